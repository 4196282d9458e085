//! Lowers tile programs to kernel IR: a function whose tensors have layouts becomes one kernel.
//!
//! A tensor becomes one scalar of the kernel IR for each register of its layout ([`lowered`]). Elementwise operations
//! are lowered register by register ([`scalar`]). Operations on shapes only determine the operand layout with which
//! each register of the result is a register of the operand ([`shape`]); an operand in another layout is converted.
//! Data movement across lanes is planned by [`tilewright_plan::movement`], MMAs by [`tilewright_plan::mma`].
//!
//! Before lowering, calls must be inlined and control flow must be structured ([`tilewright_tile`]).

mod along;
mod assembly;
mod asynchronous;
mod control;
mod convert;
mod descriptor;
mod descriptor_reduction;
mod dispatch;
mod dot;
mod entry;
mod error;
mod fixed_plans;
mod fp4;
mod groups;
mod indexed;
mod input;
mod launch;
mod lowered;
mod lowering;
mod mbarrier;
mod memory;
mod moved;
mod pending;
mod ping_pong;
mod register_differences;
mod report;
mod scalar;
mod shape;
mod shared;
mod size;
mod stages;
mod tensor_coordinates;
mod tensor_copies;
mod tensor_memory;
mod tensor_memory_state;
mod types;

pub use along::reduced_layout;
pub use entry::lower_function;
pub use error::{LowerError, LowerErrorReason, MAX_KERNEL_OPERATIONS};
pub use fixed_plans::FixedPlans;
pub use input::LoweringInput;
