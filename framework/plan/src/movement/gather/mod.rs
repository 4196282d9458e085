//! Gathers along an axis (Triton `tt.gather`): run-time indices select elements along the axis. A line is the set of
//! elements that differ only in their coordinate along the axis.
//!
//! If the lines of the source lie within the warps that need them, lanes read from each other: one shuffle for each
//! register that may hold the element, and selects. If they lie within the lanes, selects suffice. A conversion can
//! bring them into the warps. Otherwise the source is stored
//! to shared memory, and each index becomes a load (Linear Layouts paper, section 5.5 and Figure 8), in several rounds
//! if the memory is short. Bank conflicts of the loads depend on the indices; plans use the mean over uniformly random
//! indices.

mod lines;
mod plan;
mod problem;
mod shared;
mod shuffles;

pub use plan::{GatherPlan, gather_candidates, plan_gather};
