//! Tiles in tensor memory.

use super::super::arithmetic::{UNSPECIFIED, mask};
use super::super::fault::LaneFault;
use super::super::meaning::Call;
use super::super::tensor_memory::Part;
use super::operand::{number, position};
use tilewright_layout::Dim;
use tilewright_target::{Direction, ElementType, Instruction, Operand};

/// A tile in tensor memory.
pub(super) struct TensorTile {
    /// Number among the operands of the instruction.
    operand: usize,
    pub(super) number: ElementType,
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
    pub(super) fn of(row: &Instruction, required: &str) -> Result<Option<Self>, String> {
        let is_required = |operand: &&Operand| operand.tensor().is_some_and(|tensor| tensor.role == required);
        let Some((operand, tensor)) =
            row.operands.iter().find(is_required).and_then(|operand| Some((operand, operand.tensor()?)))
        else {
            return Ok(None);
        };
        let number = number(&tensor.element, tensor.bits)?;
        if !tensor.bits.is_power_of_two() || tensor.bits > 32 {
            return Err(format!("places of `{required}` have {} bits, which fill no column of 32", tensor.bits));
        }
        let shape = [0, 1].map(|axis| tensor.layout.out_bits(Dim::tensor(axis)));
        let mut places = vec![None; 1 << (shape[0] + shape[1])];
        for (place, [row, column]) in tensor.places() {
            let held = places.get_mut((row << shape[1] | column) as usize);
            if held.and_then(|held| held.replace(place)).is_some() {
                return Err(format!("two places of `{required}` hold row {row}, column {column}"));
            }
        }
        let places = places.into_iter().collect::<Option<Vec<_>>>();
        let places = places.ok_or_else(|| format!("no place of `{required}` holds some element"))?;
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
    pub(super) fn put(&self, call: &mut Call<'_>, elements: &[u64]) -> Result<(), LaneFault> {
        let copies = self.all_parts(call)?;
        call.send_tensor(Direction::Store, &copies.concat())?;
        for parts in copies {
            parts.iter().zip(elements).for_each(|(&part, &bits)| call.write_tensor(part, self.place(bits)));
        }
        Ok(())
    }

    /// The bits of an element from those of its place.
    pub(super) fn element(&self, place: u64) -> u64 {
        place & mask(self.number.bits())
    }

    /// The bits of an element's place.
    pub(super) fn place(&self, element: u64) -> u64 {
        let bits = self.number.bits();
        if bits < self.bits { element | UNSPECIFIED << bits } else { element }
    }
}
