//! Moves between tensor memory and registers, or from shared memory: the registers and the places that hold the same element
//! of the tile hold the same bits.

use super::super::fault::LaneFault;
use super::super::meaning::Call;
use super::factor::MmaOperand;
use super::held::Held;
use super::register_tile::Tile;
use super::tensor_tile::TensorTile;
use tilewright_kernel::is_result;
use tilewright_target::{Direction, Instruction, Operand};

/// A move between registers and tensor memory.
pub(super) struct TensorMove {
    held: Tile,
    tile: TensorTile,
    is_load: bool,
}

impl TensorMove {
    pub(super) fn of(row: &Instruction) -> Result<Self, String> {
        let tile = TensorTile::of(row, "memory")?.ok_or("its row has no tile `memory` in tensor memory")?;
        let is_load = row.operands.iter().any(is_result);
        let held = Tile::of(row, if is_load { "d" } else { "a" })?;
        match held.shape == [tile.shape[0], tile.shape[1], 0] && held.number == tile.number {
            true => Ok(Self { held, tile, is_load }),
            false => Err("its registers hold another tile than its memory".to_owned()),
        }
    }

    pub(super) fn execute(&self, call: &mut Call<'_>) -> Result<(), LaneFault> {
        let parts = self.tile.parts(call)?;
        call.reaches(&parts)?;
        if self.is_load {
            let ty = call.result_types().next().ok_or_else(|| call.wrong("it has no result"))?.awaited();
            call.send_tensor(Direction::Load, &parts)?;
            let mut held = Held::zeros(call.lanes(), ty);
            for (at, bits) in call.read_tensor(&parts)?.into_iter().enumerate() {
                self.held.put(&mut held, 0, at, bits);
            }
            return held.into_result(call, ty);
        }
        let elements = self.held.elements(call)?;
        if (0..elements.len()).any(|at| !self.held.holds(0, at)) {
            return Err(call.wrong("no lane holds some element of an operand"));
        }
        call.send_tensor(Direction::Store, &parts)?;
        parts.iter().zip(elements).for_each(|(&part, bits)| call.write_tensor(part, bits));
        Ok(())
    }
}

/// A copy of a tile from shared to tensor memory.
pub(super) struct TensorCopy {
    from: MmaOperand,
    tile: TensorTile,
}

impl TensorCopy {
    /// The copy that a row is; none where it moves registers.
    pub(super) fn of(row: &Instruction) -> Result<Option<Self>, String> {
        if !row.operands.iter().any(|operand| matches!(operand, Operand::Memory(_))) {
            return Ok(None);
        }
        let tile = TensorTile::of(row, "memory")?.ok_or("its row has no tile `memory` in tensor memory")?;
        let from = MmaOperand::of(row, "source")?;
        match from.shape() == [tile.shape[0], tile.shape[1], 0] && from.number() == tile.number {
            true => Ok(Some(Self { from, tile })),
            false => Err("its shared memory holds another tile than its tensor memory".to_owned()),
        }
    }

    pub(super) fn execute(&self, call: &mut Call<'_>) -> Result<(), LaneFault> {
        let all = vec![true; 1 << (self.tile.shape[0] + self.tile.shape[1])];
        let elements = self.from.elements(call, &all)?;
        self.tile.put(call, &elements)
    }
}
