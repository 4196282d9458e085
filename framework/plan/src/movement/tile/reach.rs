//! The memories of the cluster that an accessor (a store or load of a tensor) accesses.

use tilewright_layout::f2::{Columns, Subspace, multiply_vector};

/// The blocks whose memory is accessed, as distances (xor of block indices) from the block that the first lane
/// accesses.
#[derive(Debug, Clone, Default)]
pub(in super::super) struct Reach {
    /// Whether any access goes to the memory of another block.
    pub(in super::super) leaves: bool,
    /// For each lane bit, the distance (xor of block indices) that it adds to the accessed block; empty if all lanes of
    /// a warp access one block.
    pub(in super::super) lanes: Columns,
    /// Log2 of the number of times that the accessor repeats its accesses, each time to blocks at other distances.
    pub(in super::super) times: u32,
}

impl Reach {
    /// Whether the lanes of one access address different blocks.
    pub(super) fn separates_lanes(&self) -> bool {
        self.lanes.iter().any(|&distance| distance != 0)
    }

    /// Returns the distance (xor of block indices) of the block that a lane accesses.
    pub(super) fn distance(&self, lane: u64) -> u64 {
        multiply_vector(&self.lanes, lane)
    }

    /// Returns the distances (xor of block indices) of all blocks that one access reaches.
    pub(super) fn distances(&self) -> Vec<u64> {
        let blocks = Subspace::span(self.lanes.iter().copied());
        (0..1u64 << blocks.dimension()).map(|index| multiply_vector(blocks.basis(), index)).collect()
    }
}
