//! Where a row has its sums: in registers, or in tensor memory with each way to registers.

use crate::movement::{TensorMoves, TensorTable};
use tilewright_target::{Instruction, TargetDescription, TensorOperand};

use super::MmaProblem;
use super::operands::{Operands, number};

/// The sums of a unit that has them in tensor memory.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct InTensorMemory {
    pub moves: TensorMoves,
    /// Columns of a tile.
    pub columns: u64,
    /// The fewest that are allotted.
    pub least_columns: u32,
}

/// The sums of a row as registers hold them at the end.
pub(super) struct RowAccumulator {
    pub operands: Operands,
    /// Log2 of rows and columns.
    pub size: [u32; 2],
    pub tensor: Option<InTensorMemory>,
}

impl RowAccumulator {
    /// One of a row whose sums are in registers, else one for each way to them; none where they are of another type
    /// than is asked for.
    pub(super) fn of(
        row: &Instruction,
        problem: &MmaProblem,
        target: &TargetDescription,
        table: &mut TensorTable,
    ) -> Result<Vec<Self>, String> {
        if let Some(tile) = row.tensor("d") {
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
        tile: &TensorOperand,
        problem: &MmaProblem,
        least_columns: u32,
        table: &mut TensorTable,
    ) -> Result<Vec<Self>, String> {
        let accumulator = number(&tile.element)?;
        if accumulator != problem.accumulator {
            return Err(format!("it sums in {accumulator}, wanted is {}", problem.accumulator));
        }
        let columns = tile.columns();
        let way = |moves: TensorMoves| -> Result<Self, String> {
            let (operands, size) = Operands::held("d", &tile.element, tile.bits, &moves.registers)?;
            Ok(Self { operands, size, tensor: Some(InTensorMemory { moves, columns, least_columns }) })
        };
        let ways = table.ways(tile).into_iter().map(way).collect::<Result<Vec<_>, String>>()?;
        if ways.is_empty() {
            return Err("no row of the target moves its sums between tensor memory and registers".to_owned());
        }
        Ok(ways)
    }
}
