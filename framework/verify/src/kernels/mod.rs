//! Kernels around one operation, for inspecting, running and checking its code: planned movements and MMAs, repeated
//! movements, instructions, copy pipelines, prefetches.

mod block_load;
mod bulk;
mod copy_pipeline;
mod instruction;
mod isolated_tile;
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
pub use copy_pipeline::{CopyPipeline, OmittedSync};
pub use instruction::instruction_kernel;
pub use isolated_tile::{TilePlacement, TilePlacementError};
pub use memory_access::{copy_kernel, load_kernel, store_kernel};
pub use mma::mma_kernel;
pub use pointer_copy_pipeline::pointer_copy_kernel;
pub use prefetch::{PrefetchDistance, prefetched_kernel};
pub use register_movement::{CombineScalars, add, add_as, gather_kernel, reduction_kernel, scan_kernel};
pub use repeated::{repeated_conversion_kernel, repeated_gather_kernel, repeated_staging_kernel};
pub use strided::{StridedTensor, strided_copy_kernel};
pub use tensor_copy_pipeline::tensor_copy_kernel;
pub use tensor_instruction::issue_kernel;
pub(crate) use tensor_instruction::tile_in_tensor_memory;
