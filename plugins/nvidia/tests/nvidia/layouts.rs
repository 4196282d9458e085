//! Layouts of this plugin's families for tests, as attribute text and as parsed values.

use crate::prelude::*;

/// Returns the layout of a matrix instruction's result: of `mma.sync` (version 2), or of `wgmma` (version 3).
pub fn mma(version: u32, warps: &[u64], shape: &[u64]) -> String {
    format!(
        "#ttg.nvidia_mma<{{versionMajor = {version}, versionMinor = 0, warpsPerCTA = {warps:?}, instrShape = {shape:?}}}>"
    )
}

/// Returns the layout of operand A (`index` 0) or B of the instruction whose result has the layout `parent`.
pub fn dot_operand(index: u64, parent: &str, k_width: u64) -> String {
    format!("#ttg.dot_op<{{opIdx = {index}, parent = {parent}, kWidth = {k_width}}}>")
}

/// Returns the layout of a tile in shared memory as bulk tensor copies write it, with a swizzle of `width` bytes.
pub fn nvmma_shared(width: u64, transposed: bool, bits: u32) -> String {
    format!("#ttg.nvmma_shared<{{swizzlingByteWidth = {width}, transposed = {transposed}, elementBitWidth = {bits}}}>")
}

/// Returns the layout of accumulators in one block's tensor memory.
pub fn tensor_memory(rows: u64, columns: u64) -> FamilySpec {
    FamilySpec::new("tensor_memory")
        .with_parameter("block", [rows as i64, columns as i64])
        .with_parameter("col_stride", 1)
}

/// Parses the text of a layout.
pub fn spec(text: &str) -> FamilySpec {
    parse_family_spec(text).unwrap_or_else(|error| panic!("{text}: {error}"))
}
