//! Describes the loops to be pipelined: buffers, prefetched loads, and the path of each.

use super::find::{InvariantDotOperand, PrefetchableLoad};
use crate::transform::explicit::ProducerChoice;
use crate::{LayoutAttribute, Op};

/// The path of a prefetched load to its buffer in shared memory, or to registers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PrefetchPath {
    /// By an asynchronous copy from global to shared memory.
    Copy,
    /// By a bulk tensor copy, which arrives at an mbarrier.
    TensorCopy,
    /// Through registers, which are stored to shared memory at the end of the iteration.
    Registers,
    /// To registers, which the loop carries to the next iteration.
    Carried,
}

/// A loop, with the loads that are to be prefetched in it.
#[derive(Debug, Clone)]
pub struct LoopPipelinePlan {
    /// The `scf.for` operation of the loop.
    pub op: Op,
    /// Number of buffers of asynchronous copies and bulk tensor copies; other loads have two buffers, or none.
    pub stages: u32,
    /// The loads to prefetch.
    pub loads: Vec<PlannedPrefetch>,
    /// The dots whose MMAs are in flight when the next iteration begins: all dots of the loop, or none.
    ///
    /// Both operands of such a dot are in buffers that prefetches fill. These prefetches may go through registers only
    /// if `mma_waits_cover_block`.
    pub overlapped_dots: Vec<Op>,
    /// Whether a wait for MMAs of overlapped dots covers those of the whole block, since these arrive at mbarriers.
    ///
    /// Otherwise, it covers only the MMAs of the waiting thread's warps.
    pub mma_waits_cover_block: bool,
    /// The warps of the loop, if a producer warp issues the prefetches, which must all be bulk tensor copies; `None`
    /// without one.
    pub producer: Option<ProducerChoice>,
    /// The values that are stored to shared memory once, before the loop.
    pub stored_operands: Vec<HoistedSharedOperand>,
}

/// A value that is stored to shared memory before the loop, for MMAs of the loop, and its layout there.
#[derive(Debug, Clone)]
pub struct HoistedSharedOperand {
    /// The value, and the reads of it by MMAs.
    pub operand: InvariantDotOperand,
    /// The layout of the value in shared memory.
    pub memory: LayoutAttribute,
    /// For each read, the layout in the axes of the read; `None` if these are those of the value.
    pub views: Vec<Option<LayoutAttribute>>,
}

/// A load that is to be prefetched, with its path and the layouts of its buffer.
#[derive(Debug, Clone)]
pub struct PlannedPrefetch {
    /// The load, and the operations that read its value.
    pub load: PrefetchableLoad,
    /// The path of the load.
    pub path: PrefetchPath,
    /// Shared-memory layout of the load's buffer; `None` if the load has no buffer.
    pub memory: Option<LayoutAttribute>,
    /// For each read of the load, the layout of the buffer in the axes of the read; `None` if these are the buffer's.
    pub views: Vec<Option<LayoutAttribute>>,
    /// Layout of a block of the load's descriptor in the buffer, as a bulk tensor copy writes it; `None` for other
    /// copies.
    pub block: Option<LayoutAttribute>,
}

/// Number of buffers of a load through registers: one is read while the other is filled.
pub const REGISTER_PATH_BUFFER_COUNT: u32 = 2;
