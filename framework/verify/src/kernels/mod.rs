//! Kernels around one operation that no tile program has a word for: instructions, repeated plans, bulk copies, prefetches.

mod block_load;
mod bulk;
mod instruction;
mod lone_tile;
mod prefetch;
mod repeated;
mod strided;
mod tensor_instruction;

pub use block_load::block_load_kernel;
pub use bulk::{Bulk, BulkFlaw, bulk_kernel};
pub use instruction::instruction_kernel;
pub use lone_tile::LoneTile;
pub use prefetch::{Ahead, prefetched_kernel};
pub use repeated::{repeated_conversion_kernel, repeated_gather_kernel, repeated_staging_kernel};
pub use strided::{StridedTensor, strided_copy_kernel};
pub use tensor_instruction::{issue_kernel, tile_in_tensor_memory};
