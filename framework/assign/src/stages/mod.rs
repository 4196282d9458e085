//! Software pipelining of loops, after layout assignment.
//!
//! [`pipeline_loops`] finds the loads of each loop that can be prefetched ([`tilewright_tile::transform::loads`]),
//! plans the prefetch of each load (`how`), and chooses the number of stages (`pipeline`) within the limits of shared
//! memory and registers (`choose`); `lines` reports the result. Pipelining belongs to this crate because it needs plans of data
//! movement and of dots, and because its result is a tile program.
//!
//! A load is prefetched if its value goes through shared memory anyway: to a conversion, or to an MMA that reads it
//! there. A load through a tensor descriptor becomes a bulk tensor copy if the target has these and a launch can encode
//! the tensor map (`tensor_copy`). Any other load becomes an asynchronous copy if the target has one of the load's
//! width. Several conversions and MMAs can read the buffer of one copy (`shared_reads`). Without copies, the value goes
//! through registers: it is loaded at the start of an iteration and stored at its end.
//! [`tilewright_plan::memory_synthesis`] finds a layout of the buffer for all accesses.
//!
//! Before, stores through tensor descriptors become bulk tensor copies where that takes less time (`bulk_stores`).

mod bulk_stores;
mod choose;
mod how;
mod lines;
mod pipeline;
mod shared_reads;
mod tensor_copy;

pub use lines::{BulkStoreReport, LoadPrefetchReport, LoopPipelineReport};
pub use pipeline::pipeline_loops;
pub(crate) use pipeline::predict_pipelined;
