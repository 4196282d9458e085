//! Copies of a tensor from global memory to shared memory of a given layout: past the registers, by the rows of an
//! instruction table that copy asynchronously, or else by plain loads and stores.
//!
//! A row says which bytes of a slot in shared memory a lane brings. Where lanes give addresses of their own,
//! lanes follow each other as the tensor lies in global memory; where one address serves all, they
//! follow each other as it lies in shared memory, and fetch what belongs there. Other rows copy whole boxes of the tensor
//! ([`boxes`]). Where it is given what each lane brings, [`pointed`] copies it so. Of the ways that are open the one that
//! touches the fewest units of global memory wins, then the fewest wavefront [`slots`], then what is
//! asynchronous, then the fewest accesses.

mod asynchronous;
mod boxes;
mod emit;
mod issued;
mod plan;
mod pointed;
mod problem;
mod row;
mod shared_copy;

pub(crate) use boxes::tensor_copies_in;
pub use boxes::{TensorCopy, TensorCopySource, boxed, copy_from_shared, plan_tensor_copy};
pub use plan::{consecutive_copy, copy_to_shared};
pub use pointed::{PointerCopy, PointerCopySpec, plan_pointer_copy};
pub use problem::AsyncCopySpec;
pub(in crate::movement) use row::CopyRow;
pub use shared_copy::SharedCopy;
