//! Blocks of a matrix in global memory, as instructions of two dimensions name them.

use tilewright_target::{BlockOperand, MatrixFigure, Operand};

/// The operands that name a block of so many rows and columns of elements: the block, what is told of the matrix, and where
/// the block begins in it.
pub(super) fn operands(element_bits: u32, rows: u32, columns: u32) -> Vec<Operand> {
    let block = BlockOperand {
        element_bits,
        rows,
        columns,
        alignment: 64,
        least_bytes: 64,
        row_grain: 4,
        pitch_grain: 16,
        most: 1 << 24,
    };
    let stats = [MatrixFigure::RowBytes, MatrixFigure::Rows, MatrixFigure::Pitch].map(Operand::Matrix);
    [Operand::Block(block)].into_iter().chain(stats).chain([Operand::Coordinate, Operand::Coordinate]).collect()
}

/// Whether an architecture has such instructions.
pub(super) fn are_known(architecture: &str) -> bool {
    matches!(architecture, "pvc" | "xe2")
}
