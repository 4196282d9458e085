//! The accumulator of an instruction: in registers, or in tensor memory with the moves to registers.

use crate::movement::{TensorMemoryMoveTable, TensorMemoryMoves};
use tilewright_target::{Instruction, TargetDescription, TensorMemoryOperand};

use super::MmaProblem;
use super::operands::{Operands, element_type};

/// An accumulator in tensor memory: its columns, and the moves between them and registers.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct InTensorMemory {
    pub moves: TensorMemoryMoves,
    /// Number of tensor-memory columns of one tile of the atom.
    pub columns: u64,
    /// The smallest number of tensor-memory columns that the target can allocate.
    pub least_columns: u32,
}

/// The accumulator of an instruction, in the register layout that it has after the last MMA.
pub(super) struct RowAccumulator {
    pub operands: Operands,
    /// Log2 of the accumulator's rows and columns.
    pub size: [u32; 2],
    pub tensor: Option<InTensorMemory>,
}

impl RowAccumulator {
    /// Returns the accumulators of an instruction: one if it is in registers, else one for each candidate of moves from
    /// tensor memory to registers. An error if an accumulator in tensor memory has another element type than the
    /// problem's.
    pub(super) fn of(
        row: &Instruction,
        problem: &MmaProblem,
        target: &TargetDescription,
        table: &mut TensorMemoryMoveTable,
    ) -> Result<Vec<Self>, String> {
        if let Some(tile) = row.find_tensor_memory_operand("d") {
            let least_columns = target.tensor.as_ref().map_or(0, |memory| memory.least_columns);
            return Self::in_tensor_memory(tile, problem, least_columns, table);
        }
        let (c, d) = (Operands::of(row, "c")?, Operands::of(row, "d")?);
        if c != d {
            return Err("the tiles of its operands do not fit each other".to_owned());
        }
        Ok(vec![Self { operands: d.0, size: d.1, tensor: None }])
    }

    fn in_tensor_memory(
        tile: &TensorMemoryOperand,
        problem: &MmaProblem,
        least_columns: u32,
        table: &mut TensorMemoryMoveTable,
    ) -> Result<Vec<Self>, String> {
        let accumulator = element_type(&tile.element)?;
        if accumulator != problem.accumulator {
            return Err(format!("it accumulates in {accumulator}, not in {}", problem.accumulator));
        }
        let columns = tile.columns();
        let to_accumulator = |moves: TensorMemoryMoves| -> Result<Self, String> {
            let (operands, size) = Operands::in_registers("d", &tile.element, tile.bits, &moves.registers)?;
            Ok(Self { operands, size, tensor: Some(InTensorMemory { moves, columns, least_columns }) })
        };
        let move_candidates =
            table.move_candidates(tile).into_iter().map(to_accumulator).collect::<Result<Vec<_>, String>>()?;
        if move_candidates.is_empty() {
            return Err("no instruction of the target moves its accumulator to registers".to_owned());
        }
        Ok(move_candidates)
    }
}
