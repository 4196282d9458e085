//! Operands of 2-D block loads: instructions with which a warp accesses a block of a matrix in global memory in one
//! issue.

use serde::{Deserialize, Serialize};
use thiserror::Error;

/// The block of a matrix in global memory that an instruction accesses (its rows are contiguous), and the instruction's
/// requirements on the matrix.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BlockLoadOperand {
    /// Width of an element in bits; columns count elements.
    pub element_bits: u32,
    /// Number of rows of the block.
    pub rows: u32,
    /// Number of columns of the block, in elements.
    pub columns: u32,
    /// Required alignment in bytes of the address at which the matrix begins.
    pub alignment: u32,
    /// Minimum row size of the matrix in bytes. The pitch (bytes from one row to the next) is at least the row size.
    pub least_bytes: u32,
    /// Granularity in bytes: the row size of the matrix, and the offset of a block within a row, are multiples of it.
    #[serde(rename = "row_grain")]
    pub row_granularity: u32,
    /// Granularity in bytes: the pitch of the matrix (bytes from one row to the next) is a multiple of it.
    #[serde(rename = "pitch_grain")]
    pub pitch_granularity: u32,
    /// Upper bound of each of these: the row size of the matrix in bytes, its pitch in bytes, and its number of rows.
    pub most: u32,
}

/// A parameter of the matrix other than its address, which the instruction takes as an `i32`, the same in all lanes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BlockLoadMatrixParameter {
    /// Size of a row of the matrix in bytes, without padding up to the next row.
    RowBytes,
    /// Number of rows of the matrix.
    Rows,
    /// Pitch of the matrix: bytes from the start of one row to the start of the next.
    Pitch,
}

/// A matrix in global memory, to be checked by [`BlockLoadOperand::check`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BlockLoadSourceMatrix {
    /// Byte address of the matrix, or any number with the same alignment.
    pub address: u64,
    /// Size of a row of the matrix in bytes, without padding up to the next row.
    pub row_bytes: u64,
    /// Number of rows of the matrix.
    pub rows: u64,
    /// Pitch of the matrix: bytes from the start of one row to the start of the next.
    pub pitch: u64,
}

/// A requirement of a 2-D block instruction that a matrix violates, so that the instruction cannot access its blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum BlockLoadSourceMatrixError {
    /// The address of the matrix is not a multiple of the required alignment.
    #[error("the matrix begins at {address:#x}, which is not a multiple of {alignment} bytes")]
    Address {
        /// Byte address of the matrix.
        address: u64,
        /// The required alignment in bytes.
        alignment: u32,
    },
    /// The row size of the matrix is out of range, or not a multiple of the granularity.
    #[error("rows of {bytes} bytes: expected a multiple of {granularity} from {min} to {most}")]
    RowBytes {
        /// Size of a row of the matrix in bytes.
        bytes: u64,
        /// The row size must be a multiple of this number of bytes.
        granularity: u32,
        /// Minimum supported row size in bytes.
        min: u64,
        /// Maximum supported row size in bytes.
        most: u64,
    },
    /// The pitch of the matrix (bytes from one row to the next) is out of range, or not a multiple of the granularity.
    #[error("{pitch} bytes from row to row: expected a multiple of {granularity} from {min} to {most}")]
    Pitch {
        /// The pitch of the matrix in bytes.
        pitch: u64,
        /// The pitch must be a multiple of this number of bytes.
        granularity: u32,
        /// Minimum pitch in bytes: the size of a row of the matrix.
        min: u64,
        /// Maximum supported pitch in bytes.
        most: u64,
    },
    /// The matrix has no rows, or more rows than the instruction supports.
    #[error("{rows} rows: expected 1 to {most}")]
    Rows {
        /// Number of rows of the matrix.
        rows: u64,
        /// Maximum supported number of rows.
        most: u64,
    },
}

impl BlockLoadOperand {
    /// Returns the size of a row of the block in bytes.
    #[must_use]
    pub fn row_bytes(&self) -> u64 {
        u64::from(self.columns) * u64::from(self.element_bits) / 8
    }

    /// Checks whether the instruction can access blocks of this matrix.
    ///
    /// # Errors
    /// [`BlockLoadSourceMatrixError`]: the first violated requirement.
    pub fn check(&self, matrix: BlockLoadSourceMatrix) -> Result<(), BlockLoadSourceMatrixError> {
        let BlockLoadSourceMatrix { address, row_bytes, rows, pitch } = matrix;
        let (min, most) = (u64::from(self.least_bytes), u64::from(self.most));
        if !address.is_multiple_of(self.alignment.into()) {
            return Err(BlockLoadSourceMatrixError::Address { address, alignment: self.alignment });
        }
        if !(min..=most).contains(&row_bytes) || !row_bytes.is_multiple_of(self.row_granularity.into()) {
            let granularity = self.row_granularity;
            return Err(BlockLoadSourceMatrixError::RowBytes { bytes: row_bytes, granularity, min, most });
        }
        if pitch < row_bytes || pitch > most || !pitch.is_multiple_of(self.pitch_granularity.into()) {
            let granularity = self.pitch_granularity;
            return Err(BlockLoadSourceMatrixError::Pitch { pitch, granularity, min: row_bytes, most });
        }
        if rows == 0 || rows > most {
            return Err(BlockLoadSourceMatrixError::Rows { rows, most });
        }
        Ok(())
    }
}
