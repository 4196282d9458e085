//! Copies of a tensor by whole boxes, between global memory and shared memory of a given layout: one warp issues each box
//! once, and the host has encoded a map of the tensor.

mod emit;
mod tensor_copy;
mod tiling;

pub use emit::TensorCopySource;
use tensor_copy::Role;
pub(super) use tensor_copy::by_tensor_copies;
pub(crate) use tensor_copy::tensor_copies_in;
pub use tensor_copy::{TensorCopy, boxed, copy_from_shared, plan_tensor_copy};
