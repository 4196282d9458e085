//! The software pipeliner: loops whose loads from global memory are prefetched for later iterations.
//!
//! A front end computes a [`Schedule`] for each `scf.for` that it pipelines: which operations run how many iterations ahead, in
//! how many buffers, and what an iteration waits for. [`expand`] writes the loop by it: a prologue that prefetches the first
//! iterations, the loop, whose prefetches are predicated on the iteration that they are for (so there are no peeled iterations
//! behind it), and an epilogue that only waits. How a prefetch is written is the front end's ([`Prefetch`]).
//!
//! - `schedule`: the schedule;
//! - `slice`: what prefetches depend on;
//! - `iteration`: the iteration that is prefetched;
//! - `buffers`: buffers in shared memory, and their indices;
//! - `waits`: commit groups, mbarriers, waits for MMAs;
//! - `expand`: prologue, loop, epilogue; with a producer warp the loops of both partitions.

mod buffers;
mod expand;
mod iteration;
mod schedule;
mod slice;
mod waits;

pub(in crate::transform) use buffers::{Buffers, shared_memory};
pub(in crate::transform) use expand::{Prefetch, expand};
pub(in crate::transform) use schedule::{Schedule, Stream};
pub(in crate::transform) use slice::{Slice, backward, check_speculatable, is_repeatable};
pub use waits::EVERY_WARP;
