//! Copies between global and shared memory, as they are asked for.

use crate::movement::memory::GlobalTensor;
use tilewright_layout::MemoryLayout;

/// What is copied where, by whom.
#[derive(Debug, Clone)]
pub struct AsyncCopySpec<'a> {
    /// The tensor in global memory.
    pub global: &'a GlobalTensor,
    /// Where its elements go in shared memory of the block.
    pub memory: &'a MemoryLayout,
    /// Width of an element.
    pub element_bits: u32,
    /// Lanes of a warp.
    pub lanes: u32,
    /// Warps of the block.
    pub warps: u32,
    /// Whether some elements may not be there: shared memory gets zeros for them.
    pub masked: bool,
    /// Whether the kernel can be given a map of the tensor that the host has encoded; only then boxes are copied.
    pub mapped: bool,
}
