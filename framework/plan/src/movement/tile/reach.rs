//! Which blocks' memories a side accesses.

use tilewright_layout::f2::{Columns, Subspace, multiply};

/// What a side accesses beyond the memory of its own block. Blocks are known by their distance (xor) from
/// the one that the side's first lane asks.
#[derive(Debug, Clone, Default)]
pub(in super::super) struct Reach {
    /// Whether there is anything.
    pub(in super::super) leaves: bool,
    /// For each lane bit how far away the block is that it leads to; empty where lanes of a warp access one
    /// block's memory.
    pub(in super::super) lanes: Columns,
    /// Log2 of how many times the side does the same, at blocks of other distances.
    pub(in super::super) times: u32,
}

impl Reach {
    /// Whether lanes of one access ask different blocks.
    pub(super) fn parts_lanes(&self) -> bool {
        self.lanes.iter().any(|&distance| distance != 0)
    }

    /// The distance of the block that a lane asks.
    pub(super) fn distance(&self, lane: u64) -> u64 {
        multiply(&self.lanes, lane)
    }

    /// The distances of all blocks that one access asks.
    pub(super) fn distances(&self) -> Vec<u64> {
        let blocks = Subspace::span(self.lanes.iter().copied());
        (0..1u64 << blocks.dimension()).map(|number| multiply(blocks.basis(), number)).collect()
    }
}
