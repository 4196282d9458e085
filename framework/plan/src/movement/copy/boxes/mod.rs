//! Copies of a tensor by whole boxes, between global memory and shared memory of a given layout: one warp issues each box
//! once, and the host has encoded a map of the tensor.

mod emit;
mod tensor_copy;
mod tiling;

pub use emit::TensorCopySource;
use tensor_copy::Role;
pub(crate) use tensor_copy::boxes_in;
pub(super) use tensor_copy::by_boxes;
pub use tensor_copy::{TensorCopy, boxed, plan_tensor_copy, copy_from_shared};
