//! What a move between registers and tensor memory must do: each element of the tile comes from where one side has it
//! to where the other has it. Of a copy from shared memory, every copy of the tile.

use super::exact::scrambled;
use super::issue_operands::{ExpectedField, IssueOperands, bytes_of, each_place, filled, held_bytes, put};
use crate::kernels::tile_in_tensor_memory;
use tilewright_kernel::is_result;
use tilewright_plan::movement::PlanContext;
use tilewright_target::{Instruction, Operand};

impl IssueOperands {
    /// Between the row's registers and those that bring the tile.
    pub(super) fn tensor_move(row: &Instruction, context: PlanContext<'_>) -> Result<Self, String> {
        let memory = row.operands.iter().position(|operand| operand.tensor().is_some());
        let register = row.operands.iter().position(|operand| matches!(operand, Operand::Register { .. }));
        let (Some(memory), Some(register)) = (memory, register) else {
            return Err("a move has registers and a tile in tensor memory".to_owned());
        };
        let tile = row.operands[memory].tensor().ok_or("there is no tile")?;
        let moves = tile_in_tensor_memory(row, tile, context)?;
        let Operand::Register { bits, layout, .. } = &row.operands[register] else {
            return Err("a move has registers".to_owned());
        };
        let value = |coordinate: [u64; 3]| scrambled(coordinate[0] << 32 | coordinate[1], 4) >> (64 - *bits);
        let mut contents = vec![Vec::new(); row.operands.len()];
        contents[register] = vec![0; bytes_of(&row.operands[register])?];
        contents[memory] = vec![0; held_bytes(&moves.registers, *bits)];
        let (from, answer, given, required) = if row.operands.iter().any(is_result) {
            (memory, register, &moves.registers, layout)
        } else {
            (register, memory, layout, &moves.registers)
        };
        each_place(given, *bits, |at, coordinate, _| {
            put(&mut contents[from], at, *bits, value(coordinate));
            Ok(())
        })?;
        let mut expected = Vec::new();
        each_place(required, *bits, |at, coordinate, place| {
            let element = coordinate[0] << 32 | coordinate[1];
            expected.push(ExpectedField { place, at, bits: *bits, element, value: value(coordinate) });
            Ok(())
        })?;
        Ok(Self { contents, answer, expected })
    }

    /// From shared memory.
    pub(super) fn tensor_copy(row: &Instruction, context: PlanContext<'_>) -> Result<Self, String> {
        let mut contents = Vec::new();
        let mut found = None;
        let value = |[row, column]: [u64; 2], bits: u32| scrambled(row << 32 | column, 4) >> (64 - bits);
        for (number, operand) in row.operands.iter().enumerate() {
            contents.push(match operand {
                Operand::Memory(memory) => filled(memory, memory.bits, |at| Ok(value(at, memory.bits)))?,
                Operand::Tensor(tile) => {
                    let moves = tile_in_tensor_memory(row, tile, context)?;
                    let bytes = vec![0; held_bytes(&moves.registers, tile.bits)];
                    found = Some((number, tile.bits, moves));
                    bytes
                }
                _ => return Err("a copy has a tile in shared and one in tensor memory".to_owned()),
            });
        }
        let (answer, bits, moves) = found.ok_or("there is no tile")?;
        let mut expected = Vec::new();
        each_place(&moves.registers, bits, |at, [row, column, _], place| {
            expected.push(ExpectedField {
                place,
                at,
                bits,
                element: row << 32 | column,
                value: value([row, column], bits),
            });
            Ok(())
        })?;
        Ok(Self { contents, answer, expected })
    }
}
