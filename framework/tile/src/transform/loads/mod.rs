//! Loads of a loop that are prefetched: a front end of the software pipeliner, for programs in which every tensor has a layout.
//!
//! The value of such a load passes through shared memory anyway, into another layout or to an MMA that reads its operand there,
//! so that every iteration waits for global memory. [`load_loops`] finds these loads and what they depend on;
//! [`pipeline`] writes the loops anew: a load is issued for a later iteration, into one of several buffers in shared memory, and an
//! iteration reads the buffer that was filled for it.
//!
//! A load goes by an asynchronous copy ([`PrefetchPath::Copy`]), as many iterations ahead as there are buffers less one, or through
//! registers ([`PrefetchPath::Registers`]), one iteration ahead. Layout assignment chooses, and passes its choice as [`PipelinedLoop`].
//!
//! - `find`: the loads;
//! - `pipelined`: what is chosen;
//! - `prefetch`: the schedule, and how a prefetch is written.

mod find;
mod pipelined;
mod prefetch;

pub use find::{BufferReader, LayoutQueries, LoadLoop, PrefetchableLoad, load_loops};
pub use pipelined::{PipelinedLoop, PrefetchPath, PrefetchedLoad, REGISTER_BUFFERS};
pub use prefetch::pipeline;
