//! Choices for copies that follow from the memory layouts that were found. Lanes fetch in the order of the memory
//! layout; copies that no instruction implements are prefetched through registers.

use std::collections::HashMap;
use tilewright_tile::op::name::ttg;

use super::SynthesisError;
use super::accesses::AccessCounts;
use super::tree::Tree;
use crate::layouts::{LayoutCache, format_layout_attribute, to_canonical_dim_order};
use tilewright_layout::{Dim, LinearLayout, MemoryLayout};
use tilewright_tile::transform::explicit::{ExplicitMemoryChoices, SharedCopyLoop};
use tilewright_tile::{FunctionBody, LayoutAttribute, Op};

/// Choices for copies that follow from the memory layouts of the tensors that they fill.
#[derive(Debug, Default)]
pub(super) struct CopyConsequences {
    /// For each copy whose lanes write neighbouring bytes of shared memory, the layout by which the lanes fetch from
    /// global memory.
    pub fetched: HashMap<Op, LayoutAttribute>,
    /// The copies of pipelined loops that no asynchronous copy instruction implements; they are prefetched through
    /// registers.
    through_registers: Vec<Op>,
    /// For each tensor that a copy in `fetched` fills, its memory layout.
    pub memories: HashMap<Op, MemoryLayout>,
}

impl CopyConsequences {
    pub(super) fn is_empty(&self) -> bool {
        self.fetched.is_empty() && self.through_registers.is_empty()
    }

    /// Records the layout by which the lanes of each copy in `fetched` fetch from global memory, and `memory`, the
    /// layout of the shared tensor that these copies fill. Copies whose lanes already fetch in their new layout are
    /// ignored.
    pub(super) fn fetch(
        &mut self,
        body: &FunctionBody,
        tensor: Op,
        (fetched, memory): (Vec<(Op, LinearLayout)>, &MemoryLayout),
        (copies, layouts): (&[(Op, Op)], &LayoutCache<'_>),
    ) -> Result<(), SynthesisError> {
        for (op, layout) in fetched {
            let own = layouts.resolve_distributed(body.value_type(body.op(op).operands[0]))?;
            let Some(&(copy, _)) = copies.iter().find(|(_, expanded_op)| *expanded_op == op) else { continue };
            if own.columns_of(Dim::LANE) != layout.columns_of(Dim::LANE) {
                self.fetched.insert(copy, format_layout_attribute(&to_canonical_dim_order(&layout)?));
                self.memories.insert(tensor, memory.clone());
            }
        }
        Ok(())
    }

    /// Finds the copies of pipelined loops that would be synchronous, because no instruction of the target's table
    /// executes them (`moved` has the counts of each access), and records that they go through registers.
    pub(super) fn find_synchronous_copies(
        &mut self,
        body: &FunctionBody,
        copies: &[(Op, Op)],
        (tree, choices): (&Tree<'_>, &ExplicitMemoryChoices),
        moved: &HashMap<Op, AccessCounts>,
    ) {
        let staged = |of: &&SharedCopyLoop| choices.stages.get(&of.op).is_some_and(|stages| *stages > 1);
        for &copy in tree.loops.iter().map(|open| &open.of).filter(staged).flat_map(|of| &of.copies) {
            let waits = |(from, expanded_op): &(Op, Op)| {
                let is_copy = body.op(*expanded_op).name() == ttg::ASYNC_COPY_GLOBAL_TO_LOCAL;
                *from == copy && is_copy && moved.get(expanded_op).is_some_and(|moved| !moved.by_row)
            };
            if copies.iter().any(waits) {
                self.through_registers.push(copy);
            }
        }
    }

    /// Returns the choices `choices` extended by those that follow from the memory layouts.
    pub(super) fn choices(&self, choices: &ExplicitMemoryChoices) -> ExplicitMemoryChoices {
        let mut updated = choices.clone();
        for (&copy, layout) in &self.fetched {
            updated.copies.entry(copy).or_default().layout = Some(layout.clone());
        }
        for &copy in &self.through_registers {
            updated.copies.entry(copy).or_default().through_registers = true;
        }
        updated
    }
}
