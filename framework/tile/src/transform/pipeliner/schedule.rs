//! The schedule of a software-pipelined loop: what is prefetched how many iterations ahead, into which buffers, and what an
//! iteration waits for.

use super::slice::Slice;
use crate::Op;

/// How a loop is pipelined.
#[derive(Debug, Clone)]
pub(in crate::transform) struct Schedule {
    /// The `scf.for`.
    pub op: Op,
    /// The prefetched streams.
    pub streams: Vec<Stream>,
    /// The rest of an iteration without its prefetches: operations except the `scf.yield`, and the block arguments that they need.
    pub rest: Slice,
    /// Positions, among the values that `rest` carries, of the accumulators of MMAs that are still executed when the next iteration
    /// begins: the wait for them is at its end.
    pub asynchronous_accumulators: Vec<usize>,
    /// Whether the buffers are the loop's own: their use then ends behind it, with a wait for all copies.
    pub owns_buffers: bool,
    /// The consumer warps, if a producer warp issues the prefetches; all of these are then bulk tensor copies.
    pub consumers: Option<u32>,
}

/// Prefetches of a loop with the same distance and the same number of buffers.
#[derive(Debug, Clone)]
pub(in crate::transform) struct Stream {
    /// The iterations by which they are ahead.
    pub distance: u32,
    /// The buffers of each tensor; more than `distance`.
    pub buffers: u32,
    /// The operations that they depend on, executed for the prefetched iteration even if the loop ends before it.
    pub slice: Slice,
    /// Whether some are asynchronous copies, which an iteration waits for as a commit group.
    pub has_copies: bool,
    /// Whether some go through registers: loaded when an iteration begins, stored when it ends.
    pub has_loads: bool,
    /// The bytes of all bulk tensor copies of an iteration, which arrive at an mbarrier of the buffer; 0 if there are none.
    pub tensor_bytes: u64,
}
