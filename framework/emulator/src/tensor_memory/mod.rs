//! Tensor memory of one block: 32-bit words in rows and columns that exist while their columns are allocated.
//!
//! Whole warps access it. An access is in flight until it has been waited for; before that, only accesses of the same
//! warp on the same MMA queue may follow it, since that queue executes in order. At the wait the access takes effect as
//! one of the waiting warp, under the ordering rules of shared memory.

mod allocate;
mod allocation;
mod columns;

pub(super) use columns::{BitField, TensorMemory};
