//! Tensor memory of one block: words of 32 bits in rows and columns, which are there once their columns have been
//! allotted.
//!
//! Whoever accesses it is a whole warp. What an access reads and writes is under way until it has been waited for; only
//! what the same warp issues on the same queue of products may follow it before, since these are done in their order.
//! Then it has landed as if the warp had accessed it at its wait, and what orders it is what orders shared memory.

mod allocate;
mod allocation;
mod columns;

pub(super) use columns::{Part, TensorMemory};
