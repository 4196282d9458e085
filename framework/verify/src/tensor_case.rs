//! Test cases of moves between registers and tensor memory, and of copies from shared to tensor memory: each element of
//! the tile must arrive at its location. If a copy replicates the tile, all replicas are checked.

use super::exact::scrambled;
use super::issue_operands::{ExpectedField, IssueOperands, bytes_of, filled, for_each_register, put, register_bytes};
use crate::kernels::find_tile_moves;
use tilewright_kernel::is_result_operand;
use tilewright_plan::movement::PlanContext;
use tilewright_target::{Instruction, InstructionOperand};

impl IssueOperands {
    /// Creates the operands and the expected result of an instruction that moves a tile between registers and tensor
    /// memory. The tile in tensor memory is given and read as registers, by other moves of the instruction table of
    /// `context`.
    pub(super) fn tensor_move(row: &Instruction, context: PlanContext<'_>) -> Result<Self, String> {
        let memory = row.operands.iter().position(|operand| operand.tensor_memory_operand().is_some());
        let register = row.operands.iter().position(|operand| matches!(operand, InstructionOperand::Register { .. }));
        let (Some(memory), Some(register)) = (memory, register) else {
            return Err("a move has registers and a tile in tensor memory".to_owned());
        };
        let tile = row.operands[memory].tensor_memory_operand().ok_or("there is no tile")?;
        let moves = find_tile_moves(row, tile, context)?;
        let InstructionOperand::Register { bits, layout, .. } = &row.operands[register] else {
            return Err("a move has registers".to_owned());
        };
        let value = |coordinate: [u64; 3]| scrambled(coordinate[0] << 32 | coordinate[1], 4) >> (64 - *bits);
        let mut contents = vec![Vec::new(); row.operands.len()];
        contents[register] = vec![0; bytes_of(&row.operands[register])?];
        contents[memory] = vec![0; register_bytes(&moves.registers, *bits)];
        let (from, answer, given, required) = if row.operands.iter().any(is_result_operand) {
            (memory, register, &moves.registers, layout)
        } else {
            (register, memory, layout, &moves.registers)
        };
        for_each_register(given, *bits, |at, coordinate, _| {
            put(&mut contents[from], at, *bits, value(coordinate));
            Ok(())
        })?;
        let mut expected = Vec::new();
        for_each_register(required, *bits, |at, coordinate, location| {
            let element = coordinate[0] << 32 | coordinate[1];
            expected.push(ExpectedField { location, at, bits: *bits, element, value: value(coordinate) });
            Ok(())
        })?;
        Ok(Self { contents, answer, expected })
    }

    /// Creates the operands and the expected result of an instruction that copies a tile from shared to tensor memory.
    /// All replicas of the tile there are read as registers, by moves of the instruction table of `context`.
    pub(super) fn tensor_copy(row: &Instruction, context: PlanContext<'_>) -> Result<Self, String> {
        let mut contents = Vec::new();
        let mut found = None;
        let value = |[row, column]: [u64; 2], bits: u32| scrambled(row << 32 | column, 4) >> (64 - bits);
        for (index, operand) in row.operands.iter().enumerate() {
            contents.push(match operand {
                InstructionOperand::Memory(memory) => filled(memory, memory.bits, |at| Ok(value(at, memory.bits)))?,
                InstructionOperand::Tensor(tile) => {
                    let moves = find_tile_moves(row, tile, context)?;
                    let bytes = vec![0; register_bytes(&moves.registers, tile.bits)];
                    found = Some((index, tile.bits, moves));
                    bytes
                }
                _ => return Err("a copy has a tile in shared and one in tensor memory".to_owned()),
            });
        }
        let (answer, bits, moves) = found.ok_or("there is no tile")?;
        let mut expected = Vec::new();
        for_each_register(&moves.registers, bits, |at, [row, column, _], location| {
            expected.push(ExpectedField {
                location,
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
