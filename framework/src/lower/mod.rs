//! Floor 6: tile operations as kernel IR.
//!
//! May import `f2`, `layout`, `target`, `kernel`, `movement`, `contract`, `tile`, `engine`.

mod access;
mod block_load;
mod boxes;
mod bulk;
mod contraction;
mod conversion;
mod copy;
mod gather;
mod instruction;
mod lone_tile;
mod prefetch;
mod program;
mod reduction;
mod registers;
mod repeated;
mod scan;
mod shared_memory;
mod strided;
mod tensor_instruction;

pub use access::{copy_kernel, load_kernel, store_kernel};
pub use block_load::block_load_kernel;
pub use boxes::staged_box_kernel;
pub use bulk::{Bulk, BulkFlaw, bulk_kernel};
pub use contraction::contraction_kernel;
pub use conversion::conversion_kernel;
pub use copy::{Omitted, Stages, staged_copy_kernel};
pub use gather::gather_kernel;
pub use instruction::instruction_kernel;
pub use lone_tile::LoneTile;
pub use prefetch::{Ahead, prefetched_kernel};
pub use program::{LowerError, MOST_OPERATIONS, Program, Reason, program_kernel};
pub use reduction::reduction_kernel;
pub use registers::{kernel_around, row_major};
pub use repeated::{repeated_conversion_kernel, repeated_gather_kernel, repeated_staging_kernel};
pub use scan::scan_kernel;
pub use strided::{StridedTensor, strided_copy_kernel};
pub use tensor_instruction::{issue_kernel, tile_in_tensor_memory};
