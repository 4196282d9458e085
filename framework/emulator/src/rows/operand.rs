//! Matrices as instructions hold them in registers, or read them from shared memory.

use super::super::arithmetic::mask;
use super::super::fault::LaneFault;
use super::super::meaning::Call;
use super::held::Held;
use super::tensor_memory::TensorTile;
use tilewright_kernel::is_given;
use tilewright_layout::{Dim, LinearLayout};
use tilewright_target::{Instruction, MemoryOperand, Number, Operand};

/// No tile is longer.
const LONGEST: u64 = 1 << 12;

/// Above an element in a wider place, and beyond a product that is smaller than its registers' tile.
pub(super) const UNSPECIFIED: u64 = 0xa5a5_a5a5_a5a5_a5a5;

/// A matrix in registers.
pub(super) struct Tile {
    /// Number among the operands of the instruction.
    operand: usize,
    pub(super) number: Number,
    /// Bits of a place.
    bits: u32,
    /// Rows, columns and blocks as powers of two.
    pub(super) shape: [u32; 3],
    /// For each warp of those that issue together, by element (block, then row, then column fastest): lane and
    /// register of all that hold it.
    places: Vec<Vec<Vec<(u32, u32)>>>,
}

/// A factor, or its scales: in registers, in tensor memory or in shared memory.
pub(super) enum Factor {
    Held(Tile),
    Tensor(TensorTile),
    Memory { operand: usize, number: Number, shape: [u32; 3], memory: MemoryOperand },
}

/// The name of the element type of an operand in registers or tensor memory.
pub(super) fn element<'a>(row: &'a Instruction, wanted: &str) -> Option<&'a str> {
    row.operands.iter().find_map(|operand| match operand {
        Operand::Register { role, element, .. } if role == wanted => Some(element.as_str()),
        Operand::Tensor(tensor) if tensor.role == wanted => Some(tensor.element.as_str()),
        _ => None,
    })
}

pub(super) fn number(element: &str, bits: u32) -> Result<Number, String> {
    let number = Number::named(element).ok_or_else(|| format!("elements of type `{element}` are not known here"))?;
    if number.bits() > bits {
        return Err(format!("elements of type `{element}` do not fit into {bits} bits"));
    }
    Ok(number)
}

/// The number of an operand among those that are not results.
pub(super) fn position(row: &Instruction, wanted: &Operand) -> usize {
    let others = row.operands.iter().filter(|operand| is_given(operand));
    others.take_while(|operand| *operand != wanted).count()
}

impl Factor {
    pub(super) fn of(row: &Instruction, wanted: &str) -> Result<Self, String> {
        let memory = row.operands.iter().find_map(|operand| match operand {
            Operand::Memory(memory) if memory.role == wanted => Some((operand, memory)),
            _ => None,
        });
        let Some((operand, memory)) = memory else {
            let tile = TensorTile::of(row, wanted)?;
            return tile.map_or_else(|| Tile::of(row, wanted).map(Self::Held), |tile| Ok(Self::Tensor(tile)));
        };
        let number = number(&memory.element, memory.bits)?;
        if !memory.bits.is_power_of_two() || memory.shape.iter().any(|size| *size == 0 || *size > LONGEST) {
            return Err(format!("operand `{wanted}` is no tile of elements of a power of two of bits"));
        }
        // Of the tile that encloses it only what there is is needed.
        let [rows, columns] = memory.shape.map(|size| size.next_power_of_two().trailing_zeros());
        let shape = [rows, columns, 0];
        Ok(Self::Memory { operand: position(row, operand), number, shape, memory: memory.clone() })
    }

    pub(super) fn shape(&self) -> [u32; 3] {
        match self {
            Self::Held(tile) => tile.shape,
            Self::Tensor(tile) => [tile.shape[0], tile.shape[1], 0],
            Self::Memory { shape, .. } => *shape,
        }
    }

    pub(super) fn number(&self) -> Number {
        match self {
            Self::Held(tile) => tile.number,
            Self::Tensor(tile) => tile.number,
            Self::Memory { number, .. } => *number,
        }
    }

    /// The bits of the elements that are needed; zeros for others.
    pub(super) fn elements(&self, call: &mut Call<'_>, is_needed: &[bool]) -> Result<Vec<u64>, LaneFault> {
        match self {
            Self::Held(tile) => {
                let warp = tile.warp(call);
                if (0..is_needed.len()).any(|at| is_needed[at] && !tile.holds(warp, at)) {
                    return Err(call.wrong("no lane holds some element of an operand"));
                }
                tile.elements(call)
            }
            Self::Tensor(tile) => tile.elements(call),
            Self::Memory { operand, memory, .. } => described(call, *operand, memory, is_needed),
        }
    }
}

/// Reads what is needed of a tile that a descriptor tells of.
fn described(
    call: &mut Call<'_>,
    operand: usize,
    memory: &MemoryOperand,
    is_needed: &[bool],
) -> Result<Vec<u64>, LaneFault> {
    let descriptor = call.same_in_all(operand)?;
    if !memory.descriptor.is_complete(descriptor) {
        let fixed = memory.descriptor.fixed;
        return Err(call.wrong(&format!("operand {operand}: a descriptor has all bits of {fixed:#x} set")));
    }
    let said = memory.descriptor.decode(descriptor);
    let missing = || call.wrong(&format!("operand {operand}: no arrangement has the mode {}", said.mode));
    let arrangement = memory.of_mode(said.mode).ok_or_else(missing)?;
    let columns = memory.shape[1].next_power_of_two();
    let bytes = u64::from(memory.bits / 8).max(1);
    // Where the bytes begin, which of the elements in them it is, and its number.
    let mut places: Vec<(u64, u64, usize)> = Vec::new();
    for at in (0..is_needed.len()).filter(|&at| is_needed[at]) {
        let element = [at as u64 / columns, at as u64 % columns];
        places.push((arrangement.address(&said, element), arrangement.in_byte(element), at));
    }
    places.sort_unstable();
    let mut elements = vec![0; is_needed.len()];
    // What lies side by side is read at once.
    for run in places.chunk_by(|before, after| after.0 == before.0 + bytes || after.0 == before.0) {
        let begin = run[0].0;
        let length = run.last().map_or(0, |last| last.0 - begin) + bytes;
        let data = call.send_read(begin, length as u32, bytes as u32)?;
        for &(address, in_byte, at) in run {
            let from = (address - begin) as usize;
            let own = &data[from..from + bytes as usize];
            let value = own.iter().rev().fold(0, |value, &byte| value << 8 | u64::from(byte));
            elements[at] = value >> (in_byte * u64::from(memory.bits)) & mask(memory.bits);
        }
    }
    Ok(elements)
}

impl Tile {
    pub(super) fn of(row: &Instruction, wanted: &str) -> Result<Self, String> {
        let missing = || format!("its row has no register operand `{wanted}`");
        let is_wanted = |operand: &&Operand| matches!(operand, Operand::Register { role, .. } if role == wanted);
        let found = row.operands.iter().find(is_wanted).ok_or_else(missing)?;
        let Operand::Register { element, bits, layout, .. } = found else { return Err(missing()) };
        let number = number(element, *bits)?;
        let shape = [0, 1, 2].map(|axis| layout.out_bits(Dim::tensor(axis)));
        if shape.iter().sum::<u32>() != layout.outs().bits() {
            return Err(format!("operand `{wanted}` has other axes than dim0, dim1 and dim2"));
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
