//! Semantics of instructions, derived from their table rows alone.
//!
//! Rows with semantics `Move` move bytes between registers and shared memory ([`transfer`]), from global to shared
//! memory ([`copy`]), as a contiguous [`bulk_copy_1d`] or as a box of a tensor ([`bulk_tensor_copy`]), between
//! registers and tensor memory ([`tensor_memory`]), or from a matrix block in global memory to registers
//! ([`block_load`]). Rows with semantics `Prefetch` prefetch a matrix block ([`prefetch`]), rows with semantics
//! `Contract` are MMAs ([`mma`]).
//! [`tilewright_kernel::Signature`] states how values of the kernel IR carry the operands of a row.

mod block_load;
mod bulk_copy_1d;
mod bulk_tensor_copy;
mod copy;
mod element_sum;
mod mma;
mod mma_operand;
mod named_block;
mod operand;
mod operand_bits;
mod prefetch;
mod register_tile;
mod row;
mod summation;
mod tensor_memory;
mod tensor_tile;
mod transfer;

pub use element_sum::MmaElementEvaluator;
