//! Occupancy: the number of blocks that are resident on a compute unit.

use thiserror::Error;

use super::ModelLaunch;
use tilewright_target::{DeviceThroughput, TargetDescription};

/// The reason why there is no prediction.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ModelError {
    /// The target's file has no `throughput` table.
    #[error("target {target} has no table `throughput`: add it to the target's file, see docs/targets.md")]
    NoThroughput {
        /// The name of the target.
        target: String,
    },
    /// A block needs more of a resource than a compute unit has.
    #[error("a block needs {needed} {what}, a compute unit of {target} has {available}: use less in a block")]
    DoesNotFit {
        /// The name of the target.
        target: String,
        /// Name of the resource: `blocks`, `warps`, `registers` or `bytes of shared memory`.
        what: &'static str,
        /// The amount of the resource that a block needs.
        needed: u64,
        /// The amount of the resource that a compute unit has.
        available: u64,
    },
}

/// The number of resident blocks, and the resource that limits it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Occupancy {
    /// Number of blocks that are resident on a compute unit at the same time.
    pub blocks: u64,
    /// Name of the resource that limits the number of resident blocks, e.g. `registers`.
    pub limited_by: &'static str,
}

impl Occupancy {
    /// Returns the occupancy of a compute unit of the target by blocks like `block`.
    ///
    /// # Errors
    /// [`ModelError`] if the target has no throughput table, or a block does not fit a compute unit.
    pub fn compute(block: &ModelLaunch, target: &TargetDescription) -> Result<Self, ModelError> {
        let stats = stats(target)?;
        let warps = block.warps.max(1).saturating_add(block.producers);
        let (lanes, registers) = (block.lanes.max(1), block.registers.max(1));
        let of_warp = lanes.saturating_mul(registers);
        let fitting_warps = stats.warps_with_registers(registers, lanes);
        let resources = [
            ("blocks", 1, u64::from(stats.blocks_per_unit)),
            ("warps", warps, u64::from(stats.warps_per_unit)),
            ("registers", warps.saturating_mul(of_warp), fitting_warps.saturating_mul(of_warp)),
            (
                "bytes of shared memory",
                target.allocated_shared_bytes(block.shared_bytes),
                u64::from(stats.shared_bytes_per_unit),
            ),
        ];
        let mut resident = Self { blocks: u64::MAX, limited_by: "blocks" };
        for (what, needed, available) in resources {
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

/// Returns the throughput table of a target.
pub(super) fn stats(target: &TargetDescription) -> Result<&DeviceThroughput, ModelError> {
    target.throughput.as_ref().ok_or_else(|| ModelError::NoThroughput { target: target.name.clone() })
}
