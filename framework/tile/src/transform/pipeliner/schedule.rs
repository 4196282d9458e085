//! The schedule of a software-pipelined loop: prefetch distances, buffers, and the waits of an iteration.

use super::nest::EnclosingLoop;
use super::slice::Slice;
use crate::Op;
use crate::transform::explicit::ProducerChoice;

/// The software-pipelining schedule of a loop.
#[derive(Debug, Clone)]
pub(in crate::transform) struct Schedule {
    /// The `scf.for` operation of the loop.
    pub op: Op,
    /// The loops around the loop, the outermost one first, if a producer warp executes them, too; empty otherwise.
    pub enclosing: Vec<EnclosingLoop>,
    /// The streams of prefetches, each with one prefetch distance.
    pub streams: Vec<Stream>,
    /// The operations of an iteration that read values which the loop carries in registers, and the uses of these
    /// values that precede the prefetches of the next ones.
    pub early_uses: Vec<Op>,
    /// The part of an iteration that neither prefetches nor precedes prefetches: the operations without the
    /// `scf.yield`, and the block arguments that they need.
    pub rest: Slice,
    /// The accumulators whose MMAs are in flight across the end of an iteration, as indices into [`Slice::carried`] of
    /// `rest`.
    ///
    /// The next iteration waits for these MMAs at its end.
    pub asynchronous_accumulators: Vec<usize>,
    /// The number of dots of an iteration that accumulate into these.
    pub asynchronous_dots: usize,
    /// Whether an iteration fills buffers at its end, after it has waited for the MMAs of the previous iteration.
    ///
    /// Copies and stores refill the buffers that these MMAs have read, while MMAs of this iteration are in flight.
    /// Prefetches go through registers only if `mma_waits_cover_block`.
    pub prefetches_last: bool,
    /// Whether a wait for MMAs covers those of all warps of the thread block.
    ///
    /// An iteration that begins with a barrier then needs no second one before it refills the buffers that the MMAs
    /// have read.
    pub mma_waits_cover_block: bool,
    /// The warps of the loop, if a producer warp issues the prefetches, which must all be bulk tensor copies.
    ///
    /// `None` without a producer warp.
    pub producer: Option<ProducerChoice>,
}

/// A stream: prefetches of a loop with the same distance and the same number of buffers.
#[derive(Debug, Clone)]
pub(in crate::transform) struct Stream {
    /// The prefetch distance: the number of iterations between a prefetch and its use.
    pub distance: u32,
    /// The number of buffers of each tensor, which is more than `distance`.
    ///
    /// It is 1, with a distance of one, if the loaded values are stored to the only buffer at the end of an iteration.
    /// It is 0, with a distance of one, if the loop carries the loaded values in registers.
    pub buffers: u32,
    /// The slice of an iteration on which the prefetches depend.
    ///
    /// Except for its guarded operations, it is also executed for iterations that the loop does not have.
    pub slice: Slice,
    /// Whether some prefetches are asynchronous copies; an iteration waits for their commit group.
    pub has_copies: bool,
    /// Whether some prefetches go through registers: loaded at the start of an iteration, and stored at its end or
    /// carried to the next one.
    pub has_loads: bool,
    /// Number of bytes of all bulk tensor copies of an iteration, which arrive at the mbarrier of the buffer; 0 if
    /// there are none.
    pub tensor_bytes: u64,
}
