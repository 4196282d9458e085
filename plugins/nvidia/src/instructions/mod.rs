//! Instruction rows of this vendor: matrix products of one warp and of four, matrix moves between
//! registers and shared memory, copies between global and shared memory, and products and moves that have their sums
//! in tensor memory.
//!
//! Layouts are derived by rule from shapes and element widths; tests check them against published
//! tables.

mod bulk;
mod copy;
mod factor;
mod matrix_move;
mod mma;
mod mma_scaled;
mod numerics;
mod swizzle;
mod tensor_copy;
mod tensor_move;
mod tensor_product;
mod tensor_scaled;
mod unused;
mod unused_tensor;
mod wgmma;

use tilewright_target::Instruction;

#[cfg(feature = "codegen")]
pub(crate) use bulk::MNEMONIC as BULK_COPY;
pub use unused::unused;

/// The instructions of an architecture, `sm_80`, `sm_90a`, ...; none for others.
#[must_use]
pub fn rows(architecture: &str) -> Vec<Instruction> {
    let digits = architecture.strip_prefix("sm_").unwrap_or("").trim_end_matches(|c: char| c.is_ascii_lowercase());
    let Ok(capability) = digits.parse::<u32>() else { return Vec::new() };
    let mut rows = mma::rows(capability);
    rows.extend(wgmma::rows(architecture));
    rows.extend(copy::rows(capability));
    rows.extend(bulk::rows(capability));
    rows.extend(mma_scaled::rows(architecture));
    rows.extend(tensor_product::rows(architecture));
    rows.extend(tensor_scaled::rows(architecture));
    rows.extend(tensor_copy::rows(architecture));
    rows.extend(tensor_move::rows(architecture));
    rows.extend(matrix_move::rows(architecture, capability));
    rows
}
