//! Prefetches of a block of a matrix: no value changes and nothing is waited for, but the matrix must be as the row
//! wants it, and what of the block is inside of the matrix must be memory.

use super::super::fault::LaneFault;
use super::super::meaning::Call;
use super::named_block::NamedBlock;
use tilewright_target::{Completion, Instruction};

/// One such instruction.
pub(super) struct Prefetch(NamedBlock);

impl Prefetch {
    pub(super) fn of(row: &Instruction) -> Result<Self, String> {
        if row.completion != Completion::AtOnce {
            return Err("nobody waits for a prefetch, but its row completes later".to_owned());
        }
        NamedBlock::of(row).map(Self)
    }

    pub(super) fn execute(&self, call: &mut Call<'_>) -> Result<(), LaneFault> {
        let runs = self.0.inside(call)?;
        call.prefetch(&runs)
    }
}
