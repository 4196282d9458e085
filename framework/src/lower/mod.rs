//! Floor 6: tile operations as kernel IR.
//!
//! May import `f2`, `layout`, `target`, `kernel`, `movement`.

mod conversion;
mod instruction;

pub use conversion::{conversion_kernel, row_major};
pub use instruction::instruction_kernel;
