//! A matrix block in global memory as an operand: the operands that describe it, and the addresses of its rows.

use super::super::fault::LaneFault;
use super::super::mapped_tensor::Run;
use super::super::semantics::InstructionCall;
use tilewright_kernel::is_value_operand;
use tilewright_target::{
    BlockLoadMatrixParameter, BlockLoadOperand, BlockLoadSourceMatrix, Instruction, InstructionOperand,
};

/// The operands that describe a matrix block, by index.
pub(super) struct NamedBlock {
    matrix: usize,
    row_bytes: usize,
    rows: usize,
    pitch: usize,
    /// Indices of the operands with the block's first column and first row.
    begin: [usize; 2],
    block: BlockLoadOperand,
}

impl NamedBlock {
    pub(super) fn of(row: &Instruction) -> Result<Self, String> {
        let given: Vec<&InstructionOperand> = row.operands.iter().filter(|operand| is_value_operand(operand)).collect();
        let block = given.iter().enumerate().find_map(|(index, operand)| match operand {
            InstructionOperand::Block(block) => Some((index, block.clone())),
            _ => None,
        });
        let (matrix, block) = block.ok_or("its description has no matrix block")?;
        let figure = |required: BlockLoadMatrixParameter| {
            let at = given.iter().position(|operand| **operand == InstructionOperand::Matrix(required));
            at.ok_or_else(|| format!("its description lacks the {required:?} of the matrix"))
        };
        let numbers = given.iter().enumerate();
        let begin: Vec<usize> = numbers
            .filter(|(_, operand)| ***operand == InstructionOperand::Coordinate)
            .map(|(index, _)| index)
            .collect();
        let begin = begin.try_into().map_err(|_| "its coordinates are not a column and a row".to_owned())?;
        let [row_bytes, rows, pitch] =
            [BlockLoadMatrixParameter::RowBytes, BlockLoadMatrixParameter::Rows, BlockLoadMatrixParameter::Pitch]
                .map(figure);
        Ok(Self { matrix, row_bytes: row_bytes?, rows: rows?, pitch: pitch?, begin, block })
    }

    /// Returns the rows of the block that lie inside of the matrix, each with the offset of its first byte in the
    /// block's bytes (row after row).
    pub(super) fn inside(&self, call: &InstructionCall<'_>) -> Result<Vec<Run>, LaneFault> {
        let matrix = BlockLoadSourceMatrix {
            address: call.uniform_operand(self.matrix)?,
            row_bytes: call.uniform_operand(self.row_bytes)?,
            rows: call.uniform_operand(self.rows)?,
            pitch: call.uniform_operand(self.pitch)?,
        };
        self.block.check(matrix).map_err(|error| call.invalid_use_fault(&error.to_string()))?;
        let mut begin = [0; 2];
        for (begin, &index) in begin.iter_mut().zip(&self.begin) {
            *begin = i64::from(call.uniform_operand(index)? as u32 as i32);
        }
        let [column, row] = begin;
        let first = column * i64::from(self.block.element_bits) / 8;
        if first.rem_euclid(self.block.row_granularity.into()) != 0 {
            let granularity = self.block.row_granularity;
            return Err(call.invalid_use_fault(&format!(
                "the block begins {first} bytes into a row, not a multiple of {granularity}"
            )));
        }
        Ok(self.rows_of(matrix, [row, first]))
    }

    fn rows_of(&self, matrix: BlockLoadSourceMatrix, [row, first]: [i64; 2]) -> Vec<Run> {
        let own = self.block.row_bytes() as i64;
        let (begin, end) = (first.max(0), (first + own).min(matrix.row_bytes as i64));
        if begin >= end {
            return Vec::new();
        }
        let run = |at: i64| Run {
            address: matrix.address.wrapping_add(at.cast_unsigned() * matrix.pitch).wrapping_add(begin as u64),
            at: ((at - row) * own + begin - first) as u64,
            bytes: (end - begin) as u64,
        };
        (row.max(0)..(row + i64::from(self.block.rows)).min(matrix.rows as i64)).map(run).collect()
    }

    /// Returns the format of the block: its rows, columns and element width in bits.
    pub(super) fn block(&self) -> &BlockLoadOperand {
        &self.block
    }
}
