//! How many blocks a compute unit holds at a time.

use thiserror::Error;

use super::Block;
use tilewright_target::{TargetDescription, Throughput};

/// Why there is no prediction.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ModelError {
    /// The target's file says nothing of how fast it is.
    #[error("target {target} has no table `throughput`: add it to the target's file, see docs/targets.md")]
    NoFigures {
        /// The target.
        target: String,
    },
    /// A block asks for more than a compute unit has.
    #[error("a block needs {needed} {what}, a compute unit of {target} has {available}: use less in a block")]
    DoesNotFit {
        /// The target.
        target: String,
        /// What there is not enough of.
        what: &'static str,
        /// What the block needs.
        needed: u64,
        /// What there is.
        available: u64,
    },
}

/// Blocks that are resident together, and what limits them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Resident {
    /// Blocks of a compute unit.
    pub blocks: u64,
    /// What there is not enough of for more.
    pub limited_by: &'static str,
}

impl Resident {
    /// How many of these blocks a compute unit holds.
    ///
    /// # Errors
    /// [`ModelError`].
    pub fn of(block: &Block, target: &TargetDescription) -> Result<Self, ModelError> {
        let stats = stats(target)?;
        let warps = block.warps.max(1).saturating_add(block.producers);
        let threads = warps.saturating_mul(block.lanes.max(1));
        let per_unit = [
            ("blocks", 1, u64::from(stats.blocks_per_unit)),
            ("warps", warps, u64::from(stats.warps_per_unit)),
            ("registers", threads.saturating_mul(block.registers.max(1)), u64::from(stats.registers_per_unit)),
            (
                "bytes of shared memory",
                target.shared_allocation(block.shared_bytes),
                u64::from(stats.shared_bytes_per_unit),
            ),
        ];
        let mut resident = Self { blocks: u64::MAX, limited_by: "blocks" };
        for (what, needed, available) in per_unit {
            let fits = available.checked_div(needed).unwrap_or(u64::MAX);
            if fits == 0 {
                return Err(ModelError::DoesNotFit { target: target.name.clone(), what, needed, available });
            }
            if fits < resident.blocks {
                resident = Self { blocks: fits, limited_by: what };
            }
        }
        Ok(resident)
    }
}

/// The figures of a target, of which there must be some.
pub(super) fn stats(target: &TargetDescription) -> Result<&Throughput, ModelError> {
    target.throughput.as_ref().ok_or_else(|| ModelError::NoFigures { target: target.name.clone() })
}
