//! Prefetches of a block of a matrix: no value changes and nothing is waited for, but the matrix must be as the row
//! wants it, and what of the block is inside of the matrix must be memory.

use super::super::fault::LaneFault;
use super::super::mapped_tensor::Run;
use super::super::meaning::Call;
use crate::target::{BlockMatrix, BlockOperand, Completion, Instruction, MatrixFigure, Operand};

/// One such instruction; numbers of its operands.
pub(super) struct Prefetch {
    matrix: usize,
    row_bytes: usize,
    rows: usize,
    pitch: usize,
    /// Of its first column and of its first row.
    begin: [usize; 2],
    block: BlockOperand,
}

impl Prefetch {
    pub(super) fn of(row: &Instruction) -> Result<Self, String> {
        if row.completion != Completion::AtOnce {
            return Err("nobody waits for a prefetch, but its row completes later".to_owned());
        }
        let block = row.operands.iter().enumerate().find_map(|(number, operand)| match operand {
            Operand::Block(block) => Some((number, block.clone())),
            _ => None,
        });
        let (matrix, block) = block.ok_or("its row names no block of a matrix")?;
        let figure = |wanted: MatrixFigure| {
            let at = row.operands.iter().position(|operand| *operand == Operand::Matrix(wanted));
            at.ok_or_else(|| format!("its row lacks the matrix' {wanted:?}"))
        };
        let numbers = row.operands.iter().enumerate();
        let begin: Vec<usize> =
            numbers.filter(|(_, operand)| **operand == Operand::Coordinate).map(|(number, _)| number).collect();
        let begin = begin.try_into().map_err(|_| "its row has other coordinates than a column and a row".to_owned())?;
        let [row_bytes, rows, pitch] = [MatrixFigure::RowBytes, MatrixFigure::Rows, MatrixFigure::Pitch].map(figure);
        Ok(Self { matrix, row_bytes: row_bytes?, rows: rows?, pitch: pitch?, begin, block })
    }

    pub(super) fn execute(&self, call: &mut Call<'_>) -> Result<(), LaneFault> {
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
        call.prefetch(&self.inside(matrix, [row, first]))
    }

    /// The rows of the block, as far as they are in the matrix.
    fn inside(&self, matrix: BlockMatrix, [row, first]: [i64; 2]) -> Vec<Run> {
        let (begin, end) = (first.max(0), (first + self.block.row_bytes() as i64).min(matrix.row_bytes as i64));
        if begin >= end {
            return Vec::new();
        }
        let rows = (row.max(0)..(row + i64::from(self.block.rows)).min(matrix.rows as i64)).map(i64::cast_unsigned);
        let run = |row: u64| Run {
            address: matrix.address.wrapping_add(row * matrix.pitch).wrapping_add(begin as u64),
            at: 0,
            bytes: (end - begin) as u64,
        };
        rows.map(run).collect()
    }
}
