//! Bulk tensor copies (TMA, PTX `cp.async.bulk.tensor`) between global memory and shared memory of a given layout. One
//! warp issues the copy of each box once; the host encodes a tensor map.

mod emit;
mod tensor_copy;
mod tiling;

pub use emit::TensorCopyGlobalTile;
use tensor_copy::Role;
pub(super) use tensor_copy::by_tensor_copies;
pub(crate) use tensor_copy::min_box_count;
pub use tensor_copy::{
    TensorCopy, build_tensor_copy_memory_layout, plan_tensor_copy_to_global, plan_tensor_copy_to_shared,
};
