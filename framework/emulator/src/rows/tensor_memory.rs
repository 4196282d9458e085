//! Tiles in tensor memory, and moves between them and registers, or from shared memory: the registers and the places
//! that hold the same element of the tile hold the same bits.

use super::super::fault::LaneFault;
use super::super::meaning::Call;
use super::super::tensor_memory::Part;
use super::held::Held;
use super::operand::{Factor, Tile, UNSPECIFIED, number, position};
use tilewright_kernel::is_result;
use tilewright_layout::Dim;
use tilewright_target::{Direction, Instruction, Number, Operand};

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
    /// How many rows further down each copy lies, the first one too.
    copies: Vec<u64>,
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
        let copies = tensor.copy_rows();
        Ok(Some(Self { operand: position(row, operand), number, bits: tensor.bits, shape, places, copies }))
    }

    /// Where the elements lie, row by row, of the first copy.
    pub(super) fn parts(&self, call: &Call<'_>) -> Result<Vec<Part>, LaneFault> {
        self.parts_of_copy(call, 0)
    }

    fn parts_of_copy(&self, call: &Call<'_>, rows: u64) -> Result<Vec<Part>, LaneFault> {
        call.parts(self.operand, self.places.iter().map(|&[row, place]| [row + rows, place]), self.bits)
    }

    fn all_parts(&self, call: &Call<'_>) -> Result<Vec<Vec<Part>>, LaneFault> {
        self.copies.iter().map(|&rows| self.parts_of_copy(call, rows)).collect()
    }

    /// The bits of all elements, row by row; copies that differ are a fault, for which of them is read is not said.
    pub(super) fn elements(&self, call: &mut Call<'_>) -> Result<Vec<u64>, LaneFault> {
        let copies = self.all_parts(call)?;
        call.send_tensor(Direction::Load, &copies.concat())?;
        let mut first: Option<Vec<u64>> = None;
        for (rows, parts) in self.copies.iter().zip(&copies) {
            let own: Vec<u64> = call.read_tensor(parts)?.into_iter().map(|place| self.element(place)).collect();
            match &first {
                None => first = Some(own),
                Some(first) if *first == own => {}
                Some(_) => {
                    let message = format!("the copy {rows} rows further down holds other values than the first");
                    return Err(call.wrong(&format!("operand {}: {message}", self.operand)));
                }
            }
        }
        Ok(first.unwrap_or_default())
    }

    /// Puts elements, row by row, into all copies.
    fn put(&self, call: &mut Call<'_>, elements: &[u64]) -> Result<(), LaneFault> {
        let copies = self.all_parts(call)?;
        call.send_tensor(Direction::Store, &copies.concat())?;
        for parts in copies {
            parts.iter().zip(elements).for_each(|(&part, &bits)| call.write_tensor(part, self.place(bits)));
        }
        Ok(())
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

/// A copy of a tile from shared to tensor memory.
pub(super) struct TensorCopy {
    from: Factor,
    tile: TensorTile,
}

impl TensorCopy {
    /// The copy that a row is; none where it moves registers.
    pub(super) fn of(row: &Instruction) -> Result<Option<Self>, String> {
        if !row.operands.iter().any(|operand| matches!(operand, Operand::Memory(_))) {
            return Ok(None);
        }
        let tile = TensorTile::of(row, "memory")?.ok_or("its row has no tile `memory` in tensor memory")?;
        let from = Factor::of(row, "source")?;
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
