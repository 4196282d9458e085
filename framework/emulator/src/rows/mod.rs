//! What instructions do, from their rows alone.
//!
//! A row whose semantics is Move moves bytes between registers and shared memory ([`transfer`]), or from global
//! to shared memory ([`copy`]), a [`span`] of bytes or one of the [`boxes`] of a tensor, or between registers and
//! tensor memory ([`tensor_memory`]); one
//! or from a block of a matrix in global memory to registers ([`block_load`]); one
//! whose semantics is Prefetch brings a block of a matrix nearer ([`prefetch`]); one
//! whose semantics is Contract multiplies matrices ([`product`]). How values of the kernel IR carry
//! operands is what [`tilewright_kernel::Signature`] says of the row.

mod block_load;
mod boxes;
mod copy;
mod element_sum;
mod factor;
mod held;
mod named_block;
mod operand;
mod prefetch;
mod product;
mod register_tile;
mod row;
mod span;
mod summation;
mod tensor_memory;
mod tensor_tile;
mod transfer;

pub use element_sum::ElementSum;
