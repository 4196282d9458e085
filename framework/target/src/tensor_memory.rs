//! Tensor memory: rows and columns of 32-bit words beside a compute unit's matrix instructions, which a block
//! allots by columns. What is where in it is a layout from (row, col).

use serde::{Deserialize, Serialize};

use super::Evidence;
use tilewright_layout::{Dim, LinearLayout};

/// The tensor memory of a block.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[cfg_attr(test, schemars(deny_unknown_fields))]
pub struct TensorMemory {
    /// Rows.
    #[cfg_attr(test, schemars(range(min = 1, max = 32768)))]
    pub rows: u32,
    /// Columns, of 32 bits each.
    #[cfg_attr(test, schemars(range(min = 1, max = 32768)))]
    pub columns: u32,
    /// Rows that one warp reaches: the warp of index w those from `w * warp_rows` modulo `rows` on.
    #[cfg_attr(test, schemars(range(min = 1, max = 32768)))]
    pub warp_rows: u32,
    /// The fewest columns that are allotted at once; all that are allotted are powers of two.
    #[cfg_attr(test, schemars(range(min = 1, max = 32768)))]
    pub least_columns: u32,
    /// Cycles in which a warp moves its rows of one column to registers or back.
    #[cfg_attr(test, schemars(range(min = 0)))]
    pub column_cycles: f64,
    /// Multiply-adds of a matrix instruction that sums in tensor memory, of each of the target's `matrix.pipes` in a
    /// cycle, times the bits of the wider factor, where the sums fill all rows.
    #[cfg_attr(test, schemars(range(min = 1)))]
    pub bits_per_cycle: u32,
    /// How the figures are known.
    pub evidence: Evidence,
    /// Where they come from.
    #[cfg_attr(test, schemars(regex(pattern = r"\S")))]
    pub source: String,
}

/// A tile in tensor memory, which an instruction is told by the address of its first row and column: the row in the
/// upper, the column in the lower 16 bits of a word.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TensorOperand {
    /// What it is called: `d`, `a`, ...
    pub role: String,
    /// Name of the element type as the vendor writes it: `f16`, `b32`, ...
    pub element: String,
    /// Bits of an element's place, at most 32; the places of a column of 32 bits follow each other.
    pub bits: u32,
    /// From (row, col) to the tile, dim0 x dim1, columns being places of `bits` bits. Places that lie nowhere hold
    /// nothing: their basis is zero.
    pub layout: LinearLayout,
    /// How many rows further down the same lies again, and with every sum of these: each warp's rows hold it. Whoever
    /// writes the tile writes all copies, whoever reads it may take any.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub copies: Vec<u64>,
}

impl TensorOperand {
    /// Columns of 32 bits.
    #[must_use]
    pub fn columns(&self) -> u64 {
        (u64::from(self.bits) << self.layout.in_bits(Dim::COL)).div_ceil(32)
    }

    /// By how many rows each copy is further down than the first, that one too.
    #[must_use]
    pub fn copy_rows(&self) -> Vec<u64> {
        let sum = |chosen: usize| {
            let own = self.copies.iter().enumerate().filter(|(bit, _)| chosen >> bit & 1 == 1);
            own.map(|(_, &rows)| rows).sum()
        };
        (0..1 << self.copies.len()).map(sum).collect()
    }

    /// For each row that holds something and each column of the tile: the row, the place along it, and the element as
    /// (dim0, dim1), of the first copy. Each element is held once.
    #[must_use]
    pub fn places(&self) -> Vec<([u64; 2], [u64; 2])> {
        let layout = &self.layout;
        let mut places = Vec::new();
        for place in 0..1u64 << layout.ins().bits() {
            let nowhere = |(bit, column): (usize, &u64)| place >> bit & 1 == 1 && *column == 0;
            if layout.columns().iter().enumerate().any(nowhere) {
                continue;
            }
            let image = layout.apply_packed(place);
            let at = [Dim::ROW, Dim::COL].map(|dim| layout.ins().coordinate(place, dim));
            places.push((at, [0, 1].map(|axis| layout.outs().coordinate(image, Dim::tensor(axis)))));
        }
        places
    }
}
