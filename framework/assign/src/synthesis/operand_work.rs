//! The work of loads and conversions of operands that code generators interleave with the K steps of a dot.

use std::collections::HashMap;

use super::model::{ModelStep, StepWork};
use super::registers::StepOperand;
use tilewright_tile::Op;

/// The number of K steps of each dot whose operands are loaded from shared memory for it alone, and the work of these
/// loads and of the elementwise operations between load and dot.
#[derive(Default)]
pub(super) struct OperandWork(HashMap<Op, (u64, Vec<StepWork>)>);

impl OperandWork {
    /// Adds the work of an operation on such an operand. Returns the step of its barriers, if it has any: all warps
    /// arrive there before any of them loads.
    pub(super) fn add(&mut self, operand: &StepOperand, work: StepWork) -> Option<ModelStep> {
        let (steps, parts) = self.0.entry(operand.dot).or_insert((operand.steps, Vec::new()));
        *steps = operand.steps.min(*steps);
        parts.push(StepWork { barriers: 0, ..work });
        let barriers = StepWork { barriers: work.barriers, ..StepWork::default() };
        (work.barriers > 0).then_some(ModelStep::Work(barriers))
    }

    /// Returns the step of a dot, whose own work is `work`, and of its operands; `None` if no operands were added.
    pub(super) fn with_dot(&mut self, dot: Op, work: StepWork) -> Option<ModelStep> {
        let (steps, mut parts) = self.0.remove(&dot)?;
        parts.push(work);
        Some(ModelStep::Interleaved { parts, steps })
    }
}
