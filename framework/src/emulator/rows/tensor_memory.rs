//! Tiles in tensor memory, and moves between them and registers: the registers and the places that hold the same
//! element of the tile hold the same bits.

use super::super::fault::LaneFault;
use super::super::meaning::Call;
use super::super::tensor_memory::Part;
use super::held::Held;
use super::operand::{Tile, UNSPECIFIED, number, position};
use crate::kernel::is_result;
use crate::layout::Dim;
use crate::target::{Direction, Instruction, Number, Operand};

/// A tile in tensor memory.
pub(super) struct TensorTile {
    /// Number among the operands of the instruction.
    operand: usize,
    pub(super) number: Number,
    /// Bits of a place.
    bits: u32,
    /// Rows and columns as powers of two.
    pub(super) shape: [u32; 2],
    /// By element, row by row, its place as (row, place along it).
    places: Vec<[u64; 2]>,
}

impl TensorTile {
    /// The tile of a role, where the row has one.
    pub(super) fn of(row: &Instruction, wanted: &str) -> Result<Option<Self>, String> {
        let is_wanted = |operand: &&Operand| operand.tensor().is_some_and(|tensor| tensor.role == wanted);
        let Some((operand, tensor)) =
            row.operands.iter().find(is_wanted).and_then(|operand| Some((operand, operand.tensor()?)))
        else {
            return Ok(None);
        };
        let number = number(&tensor.element, tensor.bits)?;
        if !tensor.bits.is_power_of_two() || tensor.bits > 32 {
            return Err(format!("places of `{wanted}` have {} bits, which fill no column of 32", tensor.bits));
        }
        let shape = [0, 1].map(|axis| tensor.layout.out_bits(Dim::tensor(axis)));
        let mut places = vec![None; 1 << (shape[0] + shape[1])];
        for (place, [row, column]) in tensor.places() {
            let held = places.get_mut((row << shape[1] | column) as usize);
            if held.and_then(|held| held.replace(place)).is_some() {
                return Err(format!("two places of `{wanted}` hold row {row}, column {column}"));
            }
        }
        let places = places.into_iter().collect::<Option<Vec<_>>>();
        let places = places.ok_or_else(|| format!("no place of `{wanted}` holds some element"))?;
        Ok(Some(Self { operand: position(row, operand), number, bits: tensor.bits, shape, places }))
    }

    /// Where the elements lie, row by row.
    pub(super) fn parts(&self, call: &Call<'_>) -> Result<Vec<Part>, LaneFault> {
        call.parts(self.operand, self.places.iter().copied(), self.bits)
    }

    /// The bits of an element from those of its place.
    pub(super) fn element(&self, place: u64) -> u64 {
        place & super::super::arithmetic::mask(self.number.bits())
    }

    /// The bits of an element's place.
    pub(super) fn place(&self, element: u64) -> u64 {
        let bits = self.number.bits();
        if bits < self.bits { element | UNSPECIFIED << bits } else { element }
    }
}

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
