//! Expands programs with explicit memory into loads, stores and copies.

use super::choices::ExplicitMemoryChoices;
use super::expander::{Expander, Replacements};
use super::pending_copies::{PendingCopies, find_pending_copies, is_pending_copy};
use super::{loops, packed, pipeline};
use crate::op::Dialects;
use crate::op::name::{scf, tt, ttg, tw};
use crate::transform::rewrite_error::violation_of;
use crate::transform::{IrCloner, Rewrite, Rewritten, rewrite_function, violation};
use crate::{Function, Op, TileType, TileViolation, Value, ValueUses};
use std::collections::HashMap;
use std::sync::Arc;

/// A function after expansion, with Triton's operations, and the operations of the program that its operations replace.
#[derive(Debug, Clone)]
pub struct LoweredExplicitFunction {
    /// The function after expansion.
    pub function: Function,
    /// For each tensor in shared memory: its operation in the program, and the allocation after expansion.
    pub tensors: Vec<(Op, Value)>,
    /// For each copy: its operation in the program, and the operation that replaces it.
    pub copies: Vec<(Op, Op)>,
    /// For each dot: its operation in the program, and the operation that replaces it.
    pub dots: Vec<(Op, Op)>,
}

/// Expands the explicit-memory operations of a function.
///
/// # Errors
/// [`TileViolation`] at an operation that is not supported in its context.
pub fn expand_explicit_memory(
    function: &Function,
    choices: &ExplicitMemoryChoices,
    dialects: &Dialects,
) -> Result<LoweredExplicitFunction, TileViolation> {
    let mut expander = Expander {
        choices,
        uses: function.body.as_ref().map(ValueUses::of).unwrap_or_default(),
        packed_axes: packed::axes(function)?,
        views: HashMap::new(),
        tensors: HashMap::new(),
        parts: HashMap::new(),
        pending: Vec::new(),
        ping_pong: Vec::new(),
        maps: HashMap::new(),
        pending_copies: pending_copies(function, choices)?,
        ring: None,
        replacements: Replacements::default(),
        stages: pipeline::buffer_counts(function, choices)?,
        of_iteration: function
            .body
            .as_ref()
            .map_or_else(HashMap::new, |body| loops::tensors_of_iterations(body, choices)),
        deferred: HashMap::new(),
    };
    let function = rewrite_function(function, dialects, &mut expander)?;
    let Replacements { tensors, copies, dots } = expander.replacements;
    Ok(LoweredExplicitFunction { function, tensors, copies, dots })
}

/// The pending copies of a function if they become bulk tensor copies, which is an error if not all can.
fn pending_copies(function: &Function, choices: &ExplicitMemoryChoices) -> Result<PendingCopies, TileViolation> {
    let Some(body) = &function.body else { return Ok(PendingCopies::default()) };
    let copies = choices.tensor_copies.keys().filter(|copy| is_pending_copy(body, **copy));
    let Some(&copy) = copies.min() else { return Ok(PendingCopies::default()) };
    let found = find_pending_copies(function).map_err(|reason| violation_of(function, copy, reason))?;
    match found.copies.iter().find(|copy| !choices.tensor_copies.contains_key(copy)) {
        Some(&other) => {
            Err(violation_of(function, other, "some pending copies are bulk tensor copies, and some are not"))
        }
        None => Ok(found),
    }
}

impl Rewrite for Expander<'_> {
    fn rewrite(&mut self, op: Op, cloner: &mut IrCloner<'_, '_, '_>) -> Rewritten<bool> {
        self.begin_pending_copies(op, cloner)?;
        let is_rewritten = self.expand_op(op, cloner)?;
        self.end_pending_copies(op, cloner)?;
        Ok(is_rewritten)
    }
}

impl Expander<'_> {
    fn expand_op(&mut self, op: Op, cloner: &mut IrCloner<'_, '_, '_>) -> Rewritten<bool> {
        let name = Arc::clone(&cloner.from.op(op).definition.name);
        match &*name {
            tw::GLOBAL_VIEW => self.global_view(op, cloner)?,
            tw::SLICE => self.slice(op, cloner)?,
            tw::GATHER => self.gather(op, cloner)?,
            tw::SHARED_TENSOR => self.shared_tensor(op, cloner)?,
            tw::COPY => self.copy(op, cloner)?,
            tw::REGISTER_TENSOR => self.register_tensor(op, cloner)?,
            tw::REARRANGE => self.rearrange(op, cloner)?,
            tw::MMA => self.mma(op, cloner)?,
            tt::DOT if self.choices.dots.contains_key(&op) => self.mma(op, cloner)?,
            tw::CAST => self.cast(op, cloner)?,
            tw::REDUCE => self.reduce(op, cloner)?,
            ttg::MEMDESC_SUBSLICE | ttg::MEMDESC_INDEX if self.record_part(op, cloner)? => {}
            ttg::ASYNC_WAIT if self.wait_for_pending(op, cloner)? => {}
            scf::FOR => {
                self.defer_allocations(op, cloner);
                return Ok(self.loop_with_pending(op, cloner)? || self.pipelined(op, cloner)?);
            }
            _ => {
                self.check_views(op, cloner)?;
                self.bind_parts(op, cloner)?;
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Checks that an operation that uses views or elements narrower than a byte is a copy or a cast.
    fn check_views(&self, op: Op, cloner: &IrCloner<'_, '_, '_>) -> Rewritten<()> {
        let operation = cloner.from.op(op);
        let wrong = operation.operands.iter().find(|&value| {
            let ty = cloner.from.value_type(*value);
            matches!(ty, TileType::View(_))
                || self.packed_axes.contains_key(value)
                || ty.as_tensor().is_some() && ty.element_bits().is_some_and(|b| (2..8).contains(&b))
        });
        let wrong = wrong.filter(|_| !operation.definition.name.starts_with("ttg."));
        match wrong.map(|value| cloner.from.value_type(*value)) {
            Some(ty) => Err(violation(cloner, op, format!("`{ty}` may only be copied, sliced and cast"))),
            None => Ok(()),
        }
    }
}
