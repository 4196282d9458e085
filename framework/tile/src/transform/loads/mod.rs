//! Prefetches loads of a loop: a front end of the software pipeliner, for programs with all layouts assigned.
//!
//! The value of such a load passes through shared memory anyway, for a layout conversion or as an MMA operand there, so
//! that every iteration waits for global memory. [`innermost_load_loops`] finds these loads and their slices;
//! [`pipeline_function`] rewrites the loops: a load is issued for a later iteration, into one of several buffers in
//! shared memory, and each iteration reads the buffer that was filled for it.
//!
//! A load becomes an asynchronous copy ([`PrefetchPath::Copy`]) or a bulk tensor copy ([`PrefetchPath::TensorCopy`]),
//! with a distance of the number of buffers less one, or goes through registers ([`PrefetchPath::Registers`]), with a
//! distance of one. A load whose value does not pass through shared memory is prefetched into registers, which the loop
//! carries ([`PrefetchPath::Carried`]), if a dot depends on it or the program states the number of stages. Layout
//! assignment chooses, and passes its choice as [`LoopPipelinePlan`].
//!
//! - `early_uses`: the uses of loads in registers that come before the next prefetches;
//! - `find`: the loads, and the operands that are the same in each iteration;
//! - `pipelined`: the choices;
//! - `pointer_bases`: the parameters that loads and stores of the loop access;
//! - `prefetch`: the schedule and the emission of prefetches;
//! - `stored_operands`: MMA operands that are stored to shared memory before the loop.

mod early_uses;
mod find;
mod pipelined;
mod pointer_bases;
mod prefetch;
mod stored_operands;

pub use crate::transform::pipeliner::{EnclosingLoop, carried_accumulator_index, outermost_loop};
pub use find::{
    InvariantDotOperand, LayoutQueries, LoadLoop, PrefetchConsumer, PrefetchRead, PrefetchableLoad,
    innermost_load_loops,
};
pub use pipelined::{
    HoistedSharedOperand, LoopPipelinePlan, PlannedPrefetch, PrefetchPath, REGISTER_PATH_BUFFER_COUNT,
};
pub use pointer_bases::PointerBases;
pub use prefetch::{pipeline_function, producer_loops};
pub(super) use stored_operands::buffer_type;
