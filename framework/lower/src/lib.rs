//! Tile operations as kernel IR: whole programs ([`program_kernel`]), and the kernel around one conversion, which hosts ask for
//! alone ([`conversion_kernel`]).

mod conversion;
mod program;
pub mod registers;
mod shared_memory;

pub use conversion::conversion_kernel;
pub use program::{LowerError, LoweringInput, MOST_OPERATIONS, Reason, program_kernel};
