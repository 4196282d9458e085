//! Operands of instructions that name a block of a matrix in global memory, by one issue of a warp.

use serde::{Deserialize, Serialize};

/// A block of a matrix whose elements follow each other along a row, and what the matrix must be like.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BlockOperand {
    /// Bits of an element: columns are counted in these.
    pub element_bits: u32,
    /// Rows of the block.
    pub rows: u32,
    /// Columns of the block.
    pub columns: u32,
    /// The matrix begins at a multiple of so many bytes.
    pub alignment: u32,
    /// A row of the matrix, and what lies between the begins of two, has at least so many bytes.
    pub least_bytes: u32,
    /// Bytes of a row of the matrix are a multiple of so many; so are those before a block in its row.
    pub row_grain: u32,
    /// Bytes between the begins of two rows are a multiple of so many.
    pub pitch_grain: u32,
    /// Bytes of a row and between two, and rows, are no more than so many.
    pub most: u32,
}

/// What is told of the matrix beside its address: an `i32` each, the same in all lanes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MatrixFigure {
    /// Bytes of a row.
    RowBytes,
    /// Rows.
    Rows,
    /// Bytes between the begins of two rows.
    Pitch,
}

/// A matrix in global memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BlockMatrix {
    /// Where it begins, or what that is a multiple of.
    pub address: u64,
    /// Bytes of a row.
    pub row_bytes: u64,
    /// Rows.
    pub rows: u64,
    /// Bytes between the begins of two rows.
    pub pitch: u64,
}

impl BlockOperand {
    /// Bytes of a row of the block.
    #[must_use]
    pub fn row_bytes(&self) -> u64 {
        u64::from(self.columns) * u64::from(self.element_bits) / 8
    }

    /// Whether blocks of this matrix can be named.
    ///
    /// # Errors
    /// A sentence on what of it cannot be.
    pub fn check(&self, matrix: BlockMatrix) -> Result<(), String> {
        let BlockMatrix { address, row_bytes, rows, pitch } = matrix;
        let (least, most) = (u64::from(self.least_bytes), u64::from(self.most));
        if !address.is_multiple_of(self.alignment.into()) {
            return Err(format!("the matrix begins at {address:#x}, which is no multiple of {} bytes", self.alignment));
        }
        if !(least..=most).contains(&row_bytes) || !row_bytes.is_multiple_of(self.row_grain.into()) {
            return Err(format!(
                "rows of {row_bytes} bytes: expected a multiple of {} from {least} to {most}",
                self.row_grain
            ));
        }
        if pitch < row_bytes || pitch > most || !pitch.is_multiple_of(self.pitch_grain.into()) {
            return Err(format!(
                "{pitch} bytes from row to row: expected a multiple of {} from {row_bytes} to {most}",
                self.pitch_grain
            ));
        }
        if rows == 0 || rows > most {
            return Err(format!("{rows} rows: expected 1 to {most}"));
        }
        Ok(())
    }
}
