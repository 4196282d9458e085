//! Plans: how data moves between layouts and how matrices are multiplied, from target data alone.
//!
//! [`movement`] plans conversions, reductions, scans, gathers, accesses of memory and copies. [`mma`] plans matrix
//! multiplication with a target's instructions. [`cost`] prices both. [`constraint`] solves for layouts in registers,
//! and [`memory_synthesis`] for layouts in shared memory, from the operations that use them. [`barrier_hazards`] finds
//! where block barriers are needed between accesses of shared memory.

pub mod barrier_hazards;
mod cache;
pub mod constraint;
pub mod cost;
mod layouts;
pub mod memory_synthesis;
pub mod mma;
pub mod movement;

pub use cache::PlanCache;
