//! Matrices in registers.

use super::super::arithmetic::UNSPECIFIED;
use super::super::fault::LaneFault;
use super::super::meaning::Call;
use super::held::Held;
use super::operand::{number, position};
use tilewright_layout::{Dim, LinearLayout};
use tilewright_target::{ElementType, Instruction, Operand};

/// A matrix in registers.
pub(super) struct Tile {
    /// Number among the operands of the instruction.
    operand: usize,
    pub(super) number: ElementType,
    /// Bits of a place.
    bits: u32,
    /// Rows, columns and blocks as powers of two.
    pub(super) shape: [u32; 3],
    /// For each warp of those that issue together, by element (block, then row, then column fastest): lane and
    /// register of all that hold it.
    places: Vec<Vec<Vec<(u32, u32)>>>,
}

impl Tile {
    pub(super) fn of(row: &Instruction, required: &str) -> Result<Self, String> {
        let missing = || format!("its row has no register operand `{required}`");
        let is_required = |operand: &&Operand| matches!(operand, Operand::Register { role, .. } if role == required);
        let found = row.operands.iter().find(is_required).ok_or_else(missing)?;
        let Operand::Register { element, bits, layout, .. } = found else { return Err(missing()) };
        let number = number(element, *bits)?;
        let shape = [0, 1, 2].map(|axis| layout.out_bits(Dim::tensor(axis)));
        if shape.iter().sum::<u32>() != layout.outs().bits() {
            return Err(format!("operand `{required}` has other axes than dim0, dim1 and dim2"));
        }
        Ok(Self { operand: position(row, found), number, bits: *bits, shape, places: places(layout, shape) })
    }

    /// Which of the warps that issue together the running one is.
    pub(super) fn warp(&self, call: &Call<'_>) -> usize {
        call.warp() as usize % self.places.len()
    }

    /// Whether a warp holds an element.
    pub(super) fn holds(&self, warp: usize, at: usize) -> bool {
        self.places[warp].get(at).is_some_and(|places| !places.is_empty())
    }

    /// The bits of the elements that the running warp holds; zeros for the others.
    pub(super) fn elements(&self, call: &Call<'_>) -> Result<Vec<u64>, LaneFault> {
        let ty = call.operand_types().nth(self.operand).ok_or_else(|| call.wrong("an operand is missing"))?;
        let held = Held::operand(call, self.operand, ty.awaited())?;
        let at = |&(lane, register): &(u32, u32)| held.get(lane, register * self.bits, self.number.bits());
        let own = &self.places[self.warp(call)];
        let mut elements = Vec::with_capacity(own.len());
        for places in own {
            let mut all = places.iter().map(|place| (place, at(place)));
            let Some((&(first, _), bits)) = all.next() else {
                elements.push(0);
                continue;
            };
            if let Some((&(other, _), _)) = all.find(|&(_, other)| other != bits) {
                let message = format!("lanes {first} and {other} hold different values of one element");
                return Err(call.wrong(&format!("operand {}: {message}", self.operand)));
            }
            elements.push(bits);
        }
        Ok(elements)
    }

    /// Makes up what lanes hold of an element that is none of the product's.
    pub(super) fn leave(&self, held: &mut Held, warp: usize, at: usize) {
        for &(lane, register) in self.places[warp].get(at).into_iter().flatten() {
            held.set(lane, register * self.bits, self.bits, UNSPECIFIED);
        }
    }

    /// Gives one element of the result to all lanes that hold it.
    pub(super) fn put(&self, held: &mut Held, warp: usize, at: usize, bits: u64) {
        let bits = if self.number.bits() < self.bits { bits | UNSPECIFIED << self.number.bits() } else { bits };
        for &(lane, register) in self.places[warp].get(at).into_iter().flatten() {
            held.set(lane, register * self.bits, self.bits, bits);
        }
    }
}

/// All places of each element, for each warp; elements by block, then row, then column.
fn places(layout: &LinearLayout, [rows, columns, blocks]: [u32; 3]) -> Vec<Vec<Vec<(u32, u32)>>> {
    let mut places = vec![vec![Vec::new(); 1 << (rows + columns + blocks)]; 1 << layout.in_bits(Dim::WARP)];
    let (ins, outs) = (layout.ins(), layout.outs());
    for place in 0..1u64 << ins.bits() {
        let image = layout.apply_packed(place);
        let [row, column, block] = [0, 1, 2].map(|axis| outs.coordinate(image, Dim::tensor(axis)));
        let element = (block << rows | row) << columns | column;
        let [lane, register, warp] = [Dim::LANE, Dim::REGISTER, Dim::WARP].map(|dim| ins.coordinate(place, dim));
        places[warp as usize][element as usize].push((lane as u32, register as u32));
    }
    places
}
