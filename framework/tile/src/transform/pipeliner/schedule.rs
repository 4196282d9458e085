//! The schedule of a software-pipelined loop: prefetch distances, buffers, and the waits of an iteration.

use super::slice::Slice;
use crate::Op;

/// The software-pipelining schedule of a loop.
#[derive(Debug, Clone)]
pub(in crate::transform) struct Schedule {
    /// The `scf.for` operation of the loop.
    pub op: Op,
    /// The prefetches, in streams of one prefetch distance each.
    pub streams: Vec<Stream>,
    /// An iteration without its prefetches: the operations except the `scf.yield`, and the block arguments that they
    /// need.
    pub rest: Slice,
    /// Accumulators whose MMAs are in flight across the end of an iteration, as indices among the values that `rest`
    /// carries: the next iteration waits for these MMAs at its end.
    pub asynchronous_accumulators: Vec<usize>,
    /// Whether an iteration fills buffers at its end, after the wait for the MMAs of the iteration before: copies and
    /// stores refill the buffers that these have read, and MMAs of this iteration are in flight meanwhile. Prefetches
    /// go through registers only if `mma_waits_cover_block`.
    pub prefetches_last: bool,
    /// Whether a wait for MMAs covers those of the whole block, so that no barrier is needed before the buffers that
    /// they read are refilled.
    pub mma_waits_cover_block: bool,
    /// Whether the buffers belong to the loop: then their lifetime ends after the loop, with a wait for all copies.
    pub owns_buffers: bool,
    /// The number of consumer warps if a producer warp issues the prefetches, which are all bulk tensor copies then;
    /// `None` without a producer warp.
    pub consumers: Option<u32>,
}

/// A stream: prefetches of a loop with the same distance and the same number of buffers.
#[derive(Debug, Clone)]
pub(in crate::transform) struct Stream {
    /// The prefetch distance: the number of iterations between a prefetch and its use.
    pub distance: u32,
    /// The number of buffers of each tensor, more than `distance`; 0 if the loop carries the loaded values in registers,
    /// with a distance of one.
    pub buffers: u32,
    /// The slice of an iteration that the prefetches depend on. It is executed speculatively if the loop ends before
    /// the prefetched iteration.
    pub slice: Slice,
    /// Whether some prefetches are asynchronous copies, which an iteration waits for as a commit group.
    pub has_copies: bool,
    /// Whether some prefetches go through registers: loaded at the start of an iteration, and stored at its end or
    /// carried to the next one.
    pub has_loads: bool,
    /// Number of bytes of all bulk tensor copies of an iteration, which arrive at the mbarrier of the buffer; 0 if
    /// there are none.
    pub tensor_bytes: u64,
}
