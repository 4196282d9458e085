//! Kernels around one operation, by which its code is looked at, run and checked: a plan of data movement or of matrix
//! multiplication, repeated movements, instructions, copies in stages, prefetches.

mod block_load;
mod bulk;
mod copy_pipeline;
mod instruction;
mod lone_tile;
mod memory_access;
mod mma;
mod pointer_copy_pipeline;
mod pointer_parameters;
mod prefetch;
mod register_movement;
mod repeated;
mod strided;
mod tensor_copy_pipeline;
mod tensor_instruction;

pub use block_load::block_load_kernel;
pub use bulk::{Bulk, BulkFlaw, bulk_kernel};
pub use copy_pipeline::{OmittedSync, Stages};
pub use instruction::instruction_kernel;
pub use lone_tile::IsolatedTile;
pub use memory_access::{copy_kernel, load_kernel, store_kernel};
pub use mma::mma_kernel;
pub use pointer_copy_pipeline::pointer_copy_kernel;
pub use prefetch::{Ahead, prefetched_kernel};
pub use register_movement::{CombineScalars, add, gather_kernel, reduction_kernel, scan_kernel};
pub use repeated::{repeated_conversion_kernel, repeated_gather_kernel, repeated_staging_kernel};
pub use strided::{StridedTensor, strided_copy_kernel};
pub use tensor_copy_pipeline::tensor_copy_kernel;
pub use tensor_instruction::{issue_kernel, tile_in_tensor_memory};
