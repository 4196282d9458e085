//! Tile operations as kernel IR: whole programs ([`program_kernel`]), and kernels around one plan of data movement or of
//! matrix multiplication.

mod access;
mod boxes;
mod contraction;
mod conversion;
mod copy;
mod gather;
mod program;
mod reduction;
pub mod registers;
mod scan;
mod shared_memory;

pub use access::{copy_kernel, load_kernel, store_kernel};
pub use boxes::staged_box_kernel;
pub use contraction::contraction_kernel;
pub use conversion::conversion_kernel;
pub use copy::{Omitted, Stages, staged_copy_kernel};
pub use gather::gather_kernel;
pub use program::{LowerError, MOST_OPERATIONS, Program, Reason, program_kernel};
pub use reduction::reduction_kernel;
pub use registers::{kernel_around, row_major};
pub use scan::scan_kernel;
