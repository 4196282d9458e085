//! The plan of a conversion between the blocks of a cluster (distributed shared memory), with its operation counts.

use super::distance::Groups;
use crate::movement::choose::swizzle::ScratchLayout;
use crate::movement::convert::shared::Scratch;
use crate::movement::{CountLowerBounds, PlanStats};
use tilewright_kernel::Counts;
use tilewright_target::TargetDescription;

/// The plan of a conversion across blocks: stores to the block's own memory, and loads from the memories of the
/// cluster.
#[derive(Debug, Clone)]
pub(crate) struct ClusterPlan {
    /// The stores and loads within one block's memory, and its layout. The loads are those of one group of registers
    /// (all registers of a group load from the memory of one block).
    pub(super) scratch: Scratch,
    pub(super) groups: Groups,
    /// For each lane bit, then warp bit, then block bit, the distance that it adds: the block from which a thread loads
    /// is its own block's index xor the distance.
    pub(super) distances: Vec<u64>,
    pub(super) lane_bits: u32,
    pub(super) warp_bits: u32,
    pub(super) block_bits: u32,
    pub(super) register_bits: u32,
    /// Whether any load accesses another block's memory.
    pub(super) leaves: bool,
    /// Whether several blocks hold the same elements of the source.
    pub(super) copies: bool,
}

impl ClusterPlan {
    pub(crate) fn swizzle(&self) -> &ScratchLayout {
        self.scratch.swizzle()
    }

    /// Returns the number of blocks of a cluster.
    pub(crate) fn blocks(&self) -> u32 {
        1 << self.block_bits
    }

    fn counts(&self, target: &TargetDescription) -> Counts {
        let within = self.scratch.counts(target);
        if !self.leaves {
            return within;
        }
        Counts { barriers: 0, cluster_barriers: 2 * self.scratch.rounds(), ..within }
    }

    pub(super) fn stats(&self, bound: CountLowerBounds, warps: u64, target: &TargetDescription) -> PlanStats {
        let mut stats = self.scratch.stats(self.counts(target), bound, warps, target);
        if self.copies && stats.counts.wavefronts_stored > bound.wavefronts_stored {
            let also = |why: String| why + "; blocks store replicas, or elements that no block needs";
            stats.above_bound = stats.above_bound.map(also);
        }
        stats
    }
}
