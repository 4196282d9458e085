//! Moves between tensor memory and registers, and copies from shared to tensor memory. Source and destination hold the
//! same bits for the same element of the tile.

use super::super::fault::LaneFault;
use super::super::semantics::InstructionCall;
use super::mma_operand::MmaOperand;
use super::operand_bits::RegisterBits;
use super::register_tile::RegisterTile;
use super::tensor_tile::TensorTile;
use tilewright_kernel::is_result_operand;
use tilewright_target::{Direction, Instruction, InstructionOperand};

/// The semantics of an instruction that loads a tile from tensor memory to registers, or stores it.
pub(super) struct TensorMove {
    register_tile: RegisterTile,
    tile: TensorTile,
    is_load: bool,
}

impl TensorMove {
    pub(super) fn of(row: &Instruction) -> Result<Self, String> {
        let tile = TensorTile::of(row, "memory")?.ok_or("its description has no tile `memory` in tensor memory")?;
        let is_load = row.operands.iter().any(is_result_operand);
        let register_tile = RegisterTile::of(row, if is_load { "d" } else { "a" })?;
        match register_tile.shape == [tile.shape[0], tile.shape[1], 0]
            && register_tile.element_type == tile.element_type
        {
            true => Ok(Self { register_tile, tile, is_load }),
            false => Err("its registers have another tile shape than its tensor memory".to_owned()),
        }
    }

    pub(super) fn execute(&self, call: &mut InstructionCall<'_>) -> Result<(), LaneFault> {
        let bit_fields = self.tile.bit_fields(call)?;
        call.check_tensor_rows(&bit_fields)?;
        if self.is_load {
            let ty = call.result_types().next().ok_or_else(|| call.invalid_use_fault("it has no result"))?.after_wait();
            call.send_tensor(Direction::Load, &bit_fields)?;
            let mut operand_bits = RegisterBits::zeros(call.lanes(), ty);
            for (at, bits) in call.read_tensor(&bit_fields)?.into_iter().enumerate() {
                self.register_tile.put(&mut operand_bits, 0, at, bits);
            }
            return operand_bits.into_result(call);
        }
        let elements = self.register_tile.elements(call)?;
        if (0..elements.len()).any(|at| !self.register_tile.holds(0, at)) {
            return Err(call.invalid_use_fault("an element of an operand is in no lane"));
        }
        call.send_tensor(Direction::Store, &bit_fields)?;
        bit_fields.iter().zip(elements).for_each(|(&bit_field, bits)| call.write_tensor(bit_field, bits));
        Ok(())
    }
}

/// The semantics of an instruction that copies a tile from shared to tensor memory.
pub(super) struct TensorCopy {
    from: MmaOperand,
    tile: TensorTile,
}

impl TensorCopy {
    /// Derives the semantics of a copy from shared memory from a table row; `None` if the row moves registers.
    pub(super) fn of(row: &Instruction) -> Result<Option<Self>, String> {
        if !row.operands.iter().any(|operand| matches!(operand, InstructionOperand::Memory(_))) {
            return Ok(None);
        }
        let tile = TensorTile::of(row, "memory")?.ok_or("its description has no tile `memory` in tensor memory")?;
        let from = MmaOperand::of(row, "source")?;
        match from.shape() == [tile.shape[0], tile.shape[1], 0] && from.element_type() == tile.element_type {
            true => Ok(Some(Self { from, tile })),
            false => Err("its shared memory has another tile shape than its tensor memory".to_owned()),
        }
    }

    pub(super) fn execute(&self, call: &mut InstructionCall<'_>) -> Result<(), LaneFault> {
        let all = vec![true; 1 << (self.tile.shape[0] + self.tile.shape[1])];
        let elements = self.from.elements(call, &all)?;
        self.tile.put(call, &elements)
    }
}
