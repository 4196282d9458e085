//! A block of a matrix in global memory that an instruction names: what it is told, and where the block's rows lie.

use super::super::fault::LaneFault;
use super::super::mapped_tensor::Run;
use super::super::meaning::Call;
use tilewright_kernel::is_given;
use tilewright_target::{BlockMatrix, BlockOperand, Instruction, MatrixFigure, Operand};

/// The operands of such an instruction, by their numbers among what it is given.
pub(super) struct NamedBlock {
    matrix: usize,
    row_bytes: usize,
    rows: usize,
    pitch: usize,
    /// Of its first column and of its first row.
    begin: [usize; 2],
    block: BlockOperand,
}

impl NamedBlock {
    pub(super) fn of(row: &Instruction) -> Result<Self, String> {
        let given: Vec<&Operand> = row.operands.iter().filter(|operand| is_given(operand)).collect();
        let block = given.iter().enumerate().find_map(|(number, operand)| match operand {
            Operand::Block(block) => Some((number, block.clone())),
            _ => None,
        });
        let (matrix, block) = block.ok_or("its row names no block of a matrix")?;
        let figure = |required: MatrixFigure| {
            let at = given.iter().position(|operand| **operand == Operand::Matrix(required));
            at.ok_or_else(|| format!("its row lacks the matrix' {required:?}"))
        };
        let numbers = given.iter().enumerate();
        let begin: Vec<usize> =
            numbers.filter(|(_, operand)| ***operand == Operand::Coordinate).map(|(number, _)| number).collect();
        let begin = begin.try_into().map_err(|_| "its row has other coordinates than a column and a row".to_owned())?;
        let [row_bytes, rows, pitch] = [MatrixFigure::RowBytes, MatrixFigure::Rows, MatrixFigure::Pitch].map(figure);
        Ok(Self { matrix, row_bytes: row_bytes?, rows: rows?, pitch: pitch?, begin, block })
    }

    /// The rows of the block that an issue names, as far as they are in the matrix: each with the place of its first byte
    /// among the block's, row after row.
    pub(super) fn inside(&self, call: &Call<'_>) -> Result<Vec<Run>, LaneFault> {
        let matrix = BlockMatrix {
            address: call.same_operand(self.matrix)?,
            row_bytes: call.same_operand(self.row_bytes)?,
            rows: call.same_operand(self.rows)?,
            pitch: call.same_operand(self.pitch)?,
        };
        self.block.check(matrix).map_err(|message| call.wrong(&message))?;
        let mut begin = [0; 2];
        for (begin, &number) in begin.iter_mut().zip(&self.begin) {
            *begin = i64::from(call.same_operand(number)? as u32 as i32);
        }
        let [column, row] = begin;
        let first = column * i64::from(self.block.element_bits) / 8;
        if first.rem_euclid(self.block.row_grain.into()) != 0 {
            let grain = self.block.row_grain;
            return Err(call.wrong(&format!("the block begins {first} bytes into a row, no multiple of {grain}")));
        }
        Ok(self.rows_of(matrix, [row, first]))
    }

    fn rows_of(&self, matrix: BlockMatrix, [row, first]: [i64; 2]) -> Vec<Run> {
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

    /// Rows and columns of the block, and bits of a column.
    pub(super) fn block(&self) -> &BlockOperand {
        &self.block
    }
}
