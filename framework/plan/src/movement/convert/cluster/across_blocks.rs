//! Plans conversions between the blocks of a cluster.

use super::distance::Groups;
use crate::movement::choose::swizzle::ScratchLayout;
use crate::movement::convert::shared::Scratch;
use crate::movement::{Bound, PlanStats};
use tilewright_kernel::Counts;
use tilewright_target::TargetDescription;

/// How data goes through the memories of a cluster.
#[derive(Debug, Clone)]
pub(crate) struct Exchanged {
    /// What happens in each block's memory; loads are those of one group of registers.
    pub(super) scratch: Scratch,
    pub(super) groups: Groups,
    /// For each lane bit, then warp bit, then bit of the block, how far away the block is that a load
    /// goes to.
    pub(super) distances: Vec<u64>,
    pub(super) lane_bits: u32,
    pub(super) warp_bits: u32,
    pub(super) block_bits: u32,
    pub(super) register_bits: u32,
    /// Whether any load leaves its block.
    pub(super) leaves: bool,
    /// Whether the blocks hold more than the tensor has.
    pub(super) copies: bool,
}

impl Exchanged {
    pub(crate) fn swizzle(&self) -> &ScratchLayout {
        self.scratch.swizzle()
    }

    /// Blocks that run together.
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

    pub(super) fn stats(&self, bound: Bound, warps: u64, target: &TargetDescription) -> PlanStats {
        let mut stats = self.scratch.stats(self.counts(target), bound, warps, target);
        if self.copies && stats.counts.wavefronts_stored > bound.wavefronts_stored {
            let also = |why: String| why + "; blocks store what others hold too, or nobody needs";
            stats.above_bound = stats.above_bound.map(also);
        }
        stats
    }
}
