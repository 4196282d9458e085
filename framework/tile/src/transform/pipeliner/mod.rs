//! The software pipeliner: prefetches loads from global memory for later iterations of a loop.
//!
//! A front end computes a [`Schedule`] for each `scf.for`: the prefetch distance of each stream (a group of prefetches
//! with the same distance), the numbers of buffers, and the waits of an iteration. [`expand`] emits the loop: a
//! prologue that prefetches the first iterations; the loop, whose prefetches are predicated on the existence of their
//! iteration (so that no iterations are peeled at the end); and an epilogue that only waits. The front end emits the
//! prefetches ([`Prefetch`]).
//!
//! - `schedule`: the schedule;
//! - `accumulator`: dots whose MMAs may be in flight when the next iteration begins;
//! - `slice`: the slice that prefetches depend on;
//! - `iteration`: the prefetched iteration;
//! - `buffers`: buffers in shared memory, and their indices;
//! - `waits`: commit groups, mbarriers, waits for MMAs;
//! - `expand`: the interface to front ends, and the prologue;
//! - `position`: the state of the streams, which the emitted loop carries;
//! - `looped`: the loop, and the epilogue;
//! - `nest`: the loops around a loop with a producer warp;
//! - `specialized`: with a producer warp, the loops of both partitions;
//! - `alternate_tiles`: two groups of consumer warps that alternate between the tiles of an enclosing loop.

mod accumulator;
mod alternate_tiles;
mod buffers;
mod expand;
mod iteration;
mod looped;
mod nest;
mod position;
mod schedule;
mod slice;
mod specialized;
mod waits;

pub(crate) use accumulator::find_accumulated_dot;
pub use accumulator::{AccumulationChain, carried_accumulator_index};
pub(in crate::transform) use alternate_tiles::is_persistent_loop;
pub use alternate_tiles::{TILE_GROUPS, check_tile_groups, tile_group_count};
pub(in crate::transform) use buffers::{Buffers, shared_memory};
pub(in crate::transform) use expand::{Prefetch, Source, expand};
pub(in crate::transform) use iteration::Bounds;
pub(in crate::transform) use nest::find_enclosing_loops;
pub use nest::{EnclosingLoop, find_loops_around, outermost_loop};
pub(in crate::transform) use schedule::{Schedule, Stream};
pub(in crate::transform) use slice::{Slice, backward, check_speculatable, is_repeatable};
pub use waits::ARRIVE_PER_WARP;
pub(in crate::transform) use waits::Mbarriers;
