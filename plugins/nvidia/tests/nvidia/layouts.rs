//! Layouts of this plugin's families, as text and as values.

use crate::prelude::*;

/// The result of a matrix instruction: of one warp (version 2), of four (version 3).
pub fn mma(version: u32, warps: &[u64], shape: &[u64]) -> String {
    format!(
        "#ttg.nvidia_mma<{{versionMajor = {version}, versionMinor = 0, warpsPerCTA = {warps:?}, instrShape = {shape:?}}}>"
    )
}

/// An operand of the instruction with this result.
pub fn dot_operand(index: u64, parent: &str, k_width: u64) -> String {
    format!("#ttg.dot_op<{{opIdx = {index}, parent = {parent}, kWidth = {k_width}}}>")
}

/// A tile in shared memory as bulk copies write it.
pub fn nvmma_shared(width: u64, transposed: bool, bits: u32) -> String {
    format!("#ttg.nvmma_shared<{{swizzlingByteWidth = {width}, transposed = {transposed}, elementBitWidth = {bits}}}>")
}

/// Sums of a block in tensor memory.
pub fn tensor_memory(rows: u64, columns: u64) -> FamilySpec {
    FamilySpec::new("tensor_memory").with("block", [rows as i64, columns as i64]).with("col_stride", 1)
}

/// Reads a layout from text.
pub fn spec(text: &str) -> FamilySpec {
    parse_spec(text).unwrap_or_else(|error| panic!("{text}: {error}"))
}
