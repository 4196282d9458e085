//! Prefetches of a matrix block. They change no value and complete on nothing, but the matrix must have the form that
//! the row requires, and the part of the block inside of the matrix must be valid memory.

use super::super::fault::LaneFault;
use super::super::semantics::InstructionCall;
use super::named_block::NamedBlock;
use tilewright_target::{Completion, Instruction};

/// The semantics of a prefetch instruction, given the operands that describe the prefetched block of a matrix.
pub(super) struct Prefetch(NamedBlock);

impl Prefetch {
    pub(super) fn of(row: &Instruction) -> Result<Self, String> {
        if row.completion != Completion::Immediate {
            return Err("a prefetch has no completion, but its description has a queue or an mbarrier".to_owned());
        }
        NamedBlock::of(row).map(Self)
    }

    pub(super) fn execute(&self, call: &mut InstructionCall<'_>) -> Result<(), LaneFault> {
        let runs = self.0.inside(call)?;
        call.prefetch(&runs)
    }
}
