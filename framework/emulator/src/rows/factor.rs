//! Factors of products: matrices in registers, in tensor memory or in shared memory.

use super::super::arithmetic::mask;
use super::super::fault::LaneFault;
use super::super::meaning::Call;
use super::operand::{number, position};
use super::register_tile::Tile;
use super::tensor_tile::TensorTile;
use tilewright_target::{ElementType, Instruction, MemoryOperand, Operand};

/// No tile is longer.
const LONGEST: u64 = 1 << 12;

/// A factor, or its scales: in registers, in tensor memory or in shared memory.
pub(super) enum MmaOperand {
    Held(Tile),
    Tensor(TensorTile),
    Memory { operand: usize, number: ElementType, shape: [u32; 3], memory: MemoryOperand },
}

impl MmaOperand {
    pub(super) fn of(row: &Instruction, required: &str) -> Result<Self, String> {
        let memory = row.operands.iter().find_map(|operand| match operand {
            Operand::Memory(memory) if memory.role == required => Some((operand, memory)),
            _ => None,
        });
        let Some((operand, memory)) = memory else {
            let tile = TensorTile::of(row, required)?;
            return tile.map_or_else(|| Tile::of(row, required).map(Self::Held), |tile| Ok(Self::Tensor(tile)));
        };
        let number = number(&memory.element, memory.bits)?;
        if !memory.bits.is_power_of_two() || memory.shape.iter().any(|size| *size == 0 || *size > LONGEST) {
            return Err(format!("operand `{required}` is no tile of elements of a power of two of bits"));
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

    pub(super) fn number(&self) -> ElementType {
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
    let fields = memory.descriptor.decode(descriptor);
    let missing = || call.wrong(&format!("operand {operand}: no arrangement has the mode {}", fields.mode));
    let arrangement = memory.of_mode(fields.mode).ok_or_else(missing)?;
    let columns = memory.shape[1].next_power_of_two();
    let bytes = u64::from(memory.bits / 8).max(1);
    // Where the bytes begin, which of the elements in them it is, and its number.
    let mut places: Vec<(u64, u64, usize)> = Vec::new();
    for at in (0..is_needed.len()).filter(|&at| is_needed[at]) {
        let element = [at as u64 / columns, at as u64 % columns];
        places.push((arrangement.address(&fields, element), arrangement.in_byte(element), at));
    }
    places.sort_unstable();
    let mut elements = vec![0; is_needed.len()];
    // One access reads a run of adjacent bytes.
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
