//! Operands of instructions on 2-D blocks, rectangular parts of a matrix in global memory.

use tilewright_target::{BlockLoadMatrixParameter, BlockLoadOperand, InstructionOperand};

/// Returns the operands of an instruction on a block of `rows` x `columns` elements: the block, the matrix's row bytes,
/// rows and pitch, and the block's two coordinates in the matrix.
pub(super) fn operands(element_bits: u32, rows: u32, columns: u32) -> Vec<InstructionOperand> {
    let block = BlockLoadOperand {
        element_bits,
        rows,
        columns,
        alignment: 64,
        least_bytes: 64,
        row_granularity: 4,
        pitch_granularity: 16,
        most: 1 << 24,
    };
    let stats = [BlockLoadMatrixParameter::RowBytes, BlockLoadMatrixParameter::Rows, BlockLoadMatrixParameter::Pitch]
        .map(InstructionOperand::Matrix);
    [InstructionOperand::Block(block)]
        .into_iter()
        .chain(stats)
        .chain([InstructionOperand::Coordinate, InstructionOperand::Coordinate])
        .collect()
}

/// Whether an architecture has 2-D block instructions.
pub(super) fn are_known(architecture: &str) -> bool {
    matches!(architecture, "pvc" | "xe2")
}
