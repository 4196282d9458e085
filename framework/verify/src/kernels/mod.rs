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

pub use block_load::build_block_load_kernel;
pub use bulk::{BulkCopyExtent, BulkCopyFlaw, build_bulk_copy_kernel};
pub use copy_pipeline::{CopyPipelineConfig, OmittedSync};
pub use instruction::build_instruction_kernel;
pub use isolated_tile::{SharedOperandTile, SharedOperandTileError};
pub use memory_access::{build_global_copy_kernel, build_shared_load_kernel, build_shared_store_kernel};
pub use mma::build_mma_kernel;
pub use pointer_copy_pipeline::build_pointer_copy_pipeline_kernel;
pub use prefetch::{PrefetchDistance, build_prefetch_kernel};
pub use register_movement::{
    EmitScalarCombine, build_gather_kernel, build_reduction_kernel, build_scan_kernel, emit_tuple_add,
    tuple_add_emitter,
};
pub use repeated::{build_repeated_conversion_kernel, build_repeated_gather_kernel, build_repeated_staging_kernel};
pub use strided::{StridedTensor, build_strided_copy_kernel};
pub use tensor_copy_pipeline::build_tensor_copy_kernel;
pub use tensor_instruction::build_instruction_kernel_with_tensor_memory;
pub(crate) use tensor_instruction::find_tile_moves;
