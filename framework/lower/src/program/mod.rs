//! Tile programs as kernel IR: a function whose tensors have layouts becomes one kernel.
//!
//! A tensor is one scalar of the kernel IR for each register of its layout ([`lowered`]). Elementwise operations are done register
//! by register ([`scalar`]); operations on shapes only say in which layout their operand must be for each register of
//! the result to be one of its own ([`shape`]), and a conversion is made where it is another; what crosses lanes is
//! planned by [`tilewright_plan::movement`], products by [`tilewright_plan::contract`].
//!
//! Calls must have been inlined and jumps structured ([`tilewright_tile`]).

mod along;
mod assembly;
mod asynchronous;
mod boxes;
mod control;
mod convert;
mod descriptor;
mod descriptor_reduction;
mod dispatch;
mod dot;
mod entry;
mod error;
mod fixed_plans;
mod groups;
mod halves;
mod indexed;
mod input;
mod launch;
mod lowered;
mod lowering;
mod mbarrier;
mod memory;
mod moved;
mod pending;
mod places;
mod report;
mod scalar;
mod shape;
mod shared;
mod size;
mod stages;
mod types;

pub use along::without_axis;
pub use entry::program_kernel;
pub use error::{LowerError, MOST_OPERATIONS, Reason};
pub use fixed_plans::FixedPlans;
pub use input::LoweringInput;
