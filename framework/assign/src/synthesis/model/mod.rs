//! Analytical performance model: the time of a program on a target, from the work of its blocks and the target's
//! description.
//!
//! The work of a block occupies pipes (issue, shared memory, matrix units, global memory) and has a latency. Resident
//! blocks share the pipes and hide each other's latencies: a compute unit takes as long as its busiest pipe, or as its
//! blocks in sequence, whichever is longer. In a pipelined loop, asynchronous copies overlap with earlier iterations.
//! An iteration then takes as long as its own work, its transfers, or the memory latency divided over the stages,
//! whichever is longest.
//!
//! Predictions are monotonic: more work, more memory or longer latencies never shorten the predicted time. They depend
//! on the inputs alone.

mod occupancy;
mod predict;
mod work;

pub use occupancy::{ModelError, Occupancy};
pub use predict::{LaunchResourceCycles, PipeCycles, TimePrediction, predict_time};
pub use work::{ModelLaunch, ModelStep, Pipelining, StepWork};
