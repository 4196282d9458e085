//! Lowers tile operations to kernel IR: whole programs ([`program_kernel`]), and functions around one operation
//! ([`tensor_kernel`]), such as the kernel of one conversion ([`conversion_kernel`]).

mod program;
pub mod registers;
mod shared_memory;
mod tensor_function;

pub use program::{FixedPlans, LowerError, LoweringInput, MOST_OPERATIONS, Reason, program_kernel, without_axis};
pub use tensor_function::{RegisterTensor, conversion_kernel, tensor_kernel};
