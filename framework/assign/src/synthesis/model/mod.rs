//! The analytical model: how long a program takes on a target, from what its blocks do and from the target's description.
//!
//! A block's work occupies pipes (issue, shared memory, matrix units, global memory), and has a length: the latencies that
//! follow each other. Blocks that are resident together share pipes and hide each other's latencies, so a compute unit takes
//! as long as its busiest pipe, or as its blocks one after the other, whichever is more. In a loop of so many stages
//! asynchronous copies run ahead: an iteration is as long as its own work, as its transfers, or as the latency spread over the stages.
//! More work, more memory, longer latencies never make a prediction shorter. Nothing depends on more than the question.

mod occupancy;
mod predict;
mod work;

pub use occupancy::{ModelError, Resident};
pub use predict::{Pipes, Prediction, predict};
pub use work::{Block, ModelStep, Work};
