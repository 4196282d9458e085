//! What follows for copies once memory is found: lanes that write side by side fetch what the memory wants there, and what no
//! row copies goes ahead through registers.

use std::collections::HashMap;
use tilewright_tile::op::name::ttg;

use super::SynthesisError;
use super::work::Moved;
use crate::layouts::{LayoutCache, in_order, name};
use tilewright_layout::{Dim, LinearLayout, MemoryLayout};
use tilewright_tile::transform::explicit::{Choices, Loop};
use tilewright_tile::{Body, LayoutName, Op};

/// What follows for copies from how memory was found.
#[derive(Debug, Default)]
pub(super) struct Follows {
    /// Of copies by lanes that fetch what lies side by side, who brings what.
    pub fetched: HashMap<Op, LayoutName>,
    /// Copies of loops with stages that no row makes: they go ahead through registers.
    through_registers: Vec<Op>,
    /// The memories for which lanes fetch.
    pub memories: HashMap<Op, MemoryLayout>,
}

impl Follows {
    pub(super) fn is_empty(&self) -> bool {
        self.fetched.is_empty() && self.through_registers.is_empty()
    }

    /// Notes who brings what of a tensor, where the lanes have other places than the memory asks for.
    pub(super) fn fetch(
        &mut self,
        body: &Body,
        tensor: Op,
        (fetched, memory): (Vec<(Op, LinearLayout)>, &MemoryLayout),
        (copies, layouts): (&[(Op, Op)], &LayoutCache<'_>),
    ) -> Result<(), SynthesisError> {
        for (op, layout) in fetched {
            let own = layouts.distributed(body.ty(body.op(op).operands[0]))?;
            let Some(&(copy, _)) = copies.iter().find(|(_, made)| *made == op) else { continue };
            if own.columns_of(Dim::LANE) != layout.columns_of(Dim::LANE) {
                self.fetched.insert(copy, name(&in_order(&layout)?));
                self.memories.insert(tensor, memory.clone());
            }
        }
        Ok(())
    }

    /// Finds the copies of loops that would be waited for where they are issued.
    pub(super) fn go_ahead(
        &mut self,
        body: &Body,
        copies: &[(Op, Op)],
        (loops, choices): (&[Loop], &Choices),
        moved: &HashMap<Op, Moved>,
    ) {
        let staged = |of: &&Loop| choices.stages.get(&of.op).is_some_and(|stages| *stages > 1);
        for &copy in loops.iter().filter(staged).flat_map(|of| &of.copies) {
            let waits = |(from, made): &(Op, Op)| {
                let is_copy = body.op(*made).name() == ttg::ASYNC_COPY_GLOBAL_TO_LOCAL;
                *from == copy && is_copy && moved.get(made).is_some_and(|moved| !moved.by_row)
            };
            if copies.iter().any(waits) {
                self.through_registers.push(copy);
            }
        }
    }

    /// The choices with what follows.
    pub(super) fn choices(&self, choices: &Choices) -> Choices {
        let mut made = choices.clone();
        for (&copy, layout) in &self.fetched {
            made.copies.entry(copy).or_default().layout = Some(layout.clone());
        }
        for &copy in &self.through_registers {
            made.copies.entry(copy).or_default().through_registers = true;
        }
        made
    }
}
