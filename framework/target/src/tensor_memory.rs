//! Tensor memory (PTX `tcgen05`): rows and columns of 32-bit words next to a compute unit's matrix pipes, which a block
//! allocates by columns. A layout from (row, col) gives the position of elements in it.

use serde::{Deserialize, Serialize};

use super::Evidence;
use tilewright_layout::{Dim, LinearLayout};

/// Properties of the tensor memory of a block.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[cfg_attr(test, schemars(deny_unknown_fields))]
pub struct TensorMemory {
    /// Number of rows of the tensor memory, a power of two.
    #[cfg_attr(test, schemars(range(min = 1, max = 32768)))]
    pub rows: u32,
    /// Number of columns of the tensor memory, each 32 bits wide; a power of two.
    #[cfg_attr(test, schemars(range(min = 1, max = 32768)))]
    pub columns: u32,
    /// Number of rows that one warp can access: warp `w` accesses the rows from `w * warp_rows` modulo `rows` on.
    #[cfg_attr(test, schemars(range(min = 1, max = 32768)))]
    pub warp_rows: u32,
    /// Minimum number of columns of an allocation; all sizes of allocations are powers of two.
    #[cfg_attr(test, schemars(range(min = 1, max = 32768)))]
    pub least_columns: u32,
    /// Number of cycles that a warp takes to move its rows of one 32-bit column to or from registers.
    #[cfg_attr(test, schemars(range(min = 0)))]
    pub column_cycles: f64,
    /// Rate of MMA instructions that accumulate in tensor memory, if the accumulator fills all rows: multiply-adds per
    /// cycle of one of the target's `matrix.pipes`, times the bits of an element of the wider operand.
    #[cfg_attr(test, schemars(range(min = 1)))]
    pub bits_per_cycle: u32,
    /// Kind of evidence for this entry's values: measured, documented or assumed.
    pub evidence: Evidence,
    /// Origin of this entry's values: a document, a measurement or an assumption.
    #[cfg_attr(test, schemars(regex(pattern = r"\S")))]
    pub source: String,
}

/// A tile in tensor memory, which an instruction addresses by its first row (upper 16 bits of a word) and column (lower
/// 16 bits).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TensorMemoryOperand {
    /// Role of the operand in the MMA: `d` (accumulator), `a`, ...
    pub role: String,
    /// Vendor's name of the element type: `f16`, `b32`, ...
    pub element: String,
    /// Width of an element in bits, at most 32; narrower elements are packed in the 32-bit columns.
    pub bits: u32,
    /// Layout from (row, col) to the tile, dim0 x dim1; a column of this layout has `bits` bits. A position (row, col)
    /// holds no element if one of its set bits has a zero basis.
    pub layout: LinearLayout,
    /// Distances in rows between copies of the tile. There is one copy at the sum of each subset of the distances, so
    /// that the rows of each warp contain a copy. An instruction that writes the tile writes all copies; one that reads
    /// it may read any.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub copies: Vec<u64>,
}

impl TensorMemoryOperand {
    /// Returns the number of 32-bit columns that the tile takes.
    #[must_use]
    pub fn columns(&self) -> u64 {
        (u64::from(self.bits) << self.layout.in_bits(Dim::COL)).div_ceil(32)
    }

    /// Returns the distance in rows of each copy of the tile from the first copy; the first entry is zero, for the
    /// first copy itself.
    #[must_use]
    pub fn copy_row_offsets(&self) -> Vec<u64> {
        let sum = |chosen: usize| {
            let own = self.copies.iter().enumerate().filter(|(bit, _)| chosen >> bit & 1 == 1);
            own.map(|(_, &rows)| rows).sum()
        };
        (0..1 << self.copies.len()).map(sum).collect()
    }

    /// Returns the elements of the first copy, each once, as (position, element): the position is (row, column) in the
    /// tile, where a column has `bits` bits, and the element its coordinates (dim0, dim1).
    #[must_use]
    pub fn element_positions(&self) -> Vec<([u64; 2], [u64; 2])> {
        let layout = &self.layout;
        let mut element_positions = Vec::new();
        for packed in 0..1u64 << layout.ins().total_bits() {
            let nowhere = |(bit, column): (usize, &u64)| packed >> bit & 1 == 1 && *column == 0;
            if layout.columns().iter().enumerate().any(nowhere) {
                continue;
            }
            let image = layout.apply_packed(packed);
            let at = [Dim::ROW, Dim::COL].map(|dim| layout.ins().coordinate(packed, dim));
            element_positions.push((at, [0, 1].map(|axis| layout.outs().coordinate(image, Dim::tensor(axis)))));
        }
        element_positions
    }
}
