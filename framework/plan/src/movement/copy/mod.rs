//! Copies of a tensor from global memory to shared memory of a given layout (G2S).
//!
//! Candidates: asynchronous copies by instructions of the table (PTX `cp.async`, AMD LDS DMA), bulk tensor copies of
//! boxes ([`bulk_tensor`]), and plain loads and stores through registers. An instruction maps lanes to the bytes of a
//! slot (contiguous bytes) in shared memory. If each lane gives the address of its slot, consecutive lanes copy
//! elements that are contiguous in global memory. If one address serves all lanes, consecutive lanes write contiguous
//! shared memory, and each fetches the element that belongs there. If a layout of pointers is given, [`pointer_copy`]
//! copies by it. The candidate with fewest global-memory transactions is chosen, then the one of fewest predicted
//! cycles, then an asynchronous one, then the one of fewest accesses.

mod asynchronous;
mod bulk_tensor;
mod emit;
mod issued;
mod plan;
mod pointer_copy;
mod problem;
mod row;
mod shared_copy;

pub(crate) use bulk_tensor::min_box_count;
pub use bulk_tensor::{
    TensorCopy, TensorCopyGlobalTile, build_tensor_copy_memory_layout, plan_tensor_copy_to_global,
    plan_tensor_copy_to_shared,
};
pub use plan::{find_warp_addressed_copy, plan_async_copy};
pub use pointer_copy::{PointerToSharedCopy, PointerToSharedCopySpec, plan_pointer_to_shared_copy};
pub use problem::{AsyncCopySpec, BulkReduction, TensorPart};
pub(in crate::movement) use row::CopyInstruction;
pub use shared_copy::AsyncCopyPlan;
