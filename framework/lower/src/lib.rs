//! Lowers tile operations to kernel IR: whole programs ([`lower_function`]), and functions around one operation
//! ([`build_and_lower_tensor_function`]), such as the kernel of one conversion ([`build_conversion_kernel`]).

mod program;
pub mod registers;
mod shared_memory;
mod sink_loads;
mod tensor_function;

pub use program::{
    FixedPlans, LowerError, LowerErrorReason, LoweringInput, MAX_KERNEL_OPERATIONS, lower_function, reduced_layout,
};
pub use tensor_function::{RegisterTensorParameter, build_and_lower_tensor_function, build_conversion_kernel};
