//! Operands A and B of an MMA, and their scales: matrices in registers, tensor memory or shared memory.

use super::super::arithmetic::mask;
use super::super::fault::LaneFault;
use super::super::semantics::InstructionCall;
use super::operand::{element_type, position};
use super::register_tile::RegisterTile;
use super::tensor_tile::TensorTile;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use tilewright_target::{ElementType, Instruction, InstructionOperand, MemoryOperand};

/// Maximum number of elements of an operand's tile.
const LONGEST: u64 = 1 << 12;

/// Maximum number of descriptors whose tiles are kept.
const MOST_TILES: usize = 1 << 10;

/// Operand A or B of an MMA, or its scales, by the memory that holds it.
pub(super) enum MmaOperand {
    Registers(RegisterTile),
    Tensor(TensorTile),
    Memory(Box<SharedTile>),
}

/// A tile in shared memory that the instruction reads through a matrix descriptor.
pub(super) struct SharedTile {
    /// Index of the operand among the operands of the instruction.
    operand: usize,
    element_type: ElementType,
    /// Log2 of the numbers of rows, columns and blocks.
    shape: [u32; 3],
    memory: MemoryOperand,
    /// For each descriptor and warp that has read a tile, the located elements: a loop reads the same tiles again.
    located: Mutex<LocatedTiles>,
}

/// The located elements of tiles, by matrix descriptor and warp.
type LocatedTiles = HashMap<(u64, u32), Arc<[LocatedElement]>>;

/// One element in shared memory: the address of its bytes, its index within them, and its index in the tile. In order
/// of addresses.
type LocatedElement = (u64, u64, usize);

impl MmaOperand {
    pub(super) fn of(row: &Instruction, required: &str) -> Result<Self, String> {
        let Some(operand @ InstructionOperand::Memory(memory)) = row.find_matrix_operand(required) else {
            let tile = TensorTile::of(row, required)?;
            return tile
                .map_or_else(|| RegisterTile::of(row, required).map(Self::Registers), |tile| Ok(Self::Tensor(tile)));
        };
        let element_type = element_type(&memory.element, memory.bits)?;
        if !memory.bits.is_power_of_two() || memory.shape.iter().any(|size| *size == 0 || *size > LONGEST) {
            return Err(format!("operand `{required}` is not a tile of elements whose width is a power of two"));
        }
        // Only elements of the tile are read, though the tile is rounded up to powers of two.
        let [rows, columns] = memory.shape.map(|size| size.next_power_of_two().trailing_zeros());
        let shape = [rows, columns, 0];
        let (operand, memory) = (position(row, operand), memory.clone());
        Ok(Self::Memory(Box::new(SharedTile { operand, element_type, shape, memory, located: Mutex::default() })))
    }

    pub(super) fn shape(&self) -> [u32; 3] {
        match self {
            Self::Registers(tile) => tile.shape,
            Self::Tensor(tile) => [tile.shape[0], tile.shape[1], 0],
            Self::Memory(tile) => tile.shape,
        }
    }

    pub(super) fn element_type(&self) -> ElementType {
        match self {
            Self::Registers(tile) => tile.element_type,
            Self::Tensor(tile) => tile.element_type,
            Self::Memory(tile) => tile.element_type,
        }
    }

    /// Returns the bits of the tile's elements, at least of those in `is_needed`; elements that are not read are zero.
    /// A fault if the running warp holds a needed element in no lane. A warp needs the same elements in every call.
    pub(super) fn elements(&self, call: &mut InstructionCall<'_>, is_needed: &[bool]) -> Result<Vec<u64>, LaneFault> {
        match self {
            Self::Registers(tile) => {
                let warp = tile.warp(call);
                if (0..is_needed.len()).any(|at| is_needed[at] && !tile.holds(warp, at)) {
                    return Err(call.invalid_use_fault("an element of an operand is in no lane"));
                }
                tile.elements(call)
            }
            Self::Tensor(tile) => tile.elements(call),
            Self::Memory(tile) => tile.elements(call, is_needed),
        }
    }
}

impl SharedTile {
    /// Reads the elements in `is_needed` through the tile's descriptor; the others are zero.
    fn elements(&self, call: &mut InstructionCall<'_>, is_needed: &[bool]) -> Result<Vec<u64>, LaneFault> {
        let descriptor = call.uniform_operand(self.operand)?;
        let key = (descriptor, call.warp());
        let found = self.located.lock().unwrap_or_else(PoisonError::into_inner).get(&key).cloned();
        let located = match found {
            Some(located) => located,
            None => {
                let located: Arc<[LocatedElement]> = self.locate(call, descriptor, is_needed)?.into();
                let mut all = self.located.lock().unwrap_or_else(PoisonError::into_inner);
                if all.len() >= MOST_TILES {
                    all.clear();
                }
                all.insert(key, located.clone());
                located
            }
        };
        let bits = self.memory.bits;
        let bytes = u64::from(bits / 8).max(1);
        let mut elements = vec![0; is_needed.len()];
        // One access reads a run of contiguous bytes.
        for run in located.chunk_by(|before, after| after.0 == before.0 + bytes || after.0 == before.0) {
            let begin = run[0].0;
            let length = run.last().map_or(0, |last| last.0 - begin) + bytes;
            let data = call.read_shared_asynchronously(begin, length as u32, bytes as u32)?;
            for &(address, in_byte, at) in run {
                let from = (address - begin) as usize;
                let own = &data[from..from + bytes as usize];
                let value = own.iter().rev().fold(0, |value, &byte| value << 8 | u64::from(byte));
                elements[at] = value >> (in_byte * u64::from(bits)) & mask(bits);
            }
        }
        Ok(elements)
    }

    /// Locates the elements in `is_needed` of the tile that a descriptor describes.
    fn locate(
        &self,
        call: &InstructionCall<'_>,
        descriptor: u64,
        is_needed: &[bool],
    ) -> Result<Vec<LocatedElement>, LaneFault> {
        let (operand, format) = (self.operand, &self.memory.descriptor);
        if !format.has_fixed_bits(descriptor) {
            let fixed = format.fixed;
            return Err(
                call.invalid_use_fault(&format!("operand {operand}: a descriptor has all bits of {fixed:#x} set"))
            );
        }
        let fields = format.decode(descriptor);
        let missing =
            || call.invalid_use_fault(&format!("operand {operand}: no canonical layout has the mode {}", fields.mode));
        let canonical_layout = self.memory.find_layout_by_mode(fields.mode).ok_or_else(missing)?;
        let columns = self.memory.shape[1].next_power_of_two();
        let mut located: Vec<LocatedElement> = Vec::new();
        for at in (0..is_needed.len()).filter(|&at| is_needed[at]) {
            let element = [at as u64 / columns, at as u64 % columns];
            located.push((
                canonical_layout.element_address(&fields, element),
                canonical_layout.index_in_byte(element),
                at,
            ));
        }
        located.sort_unstable();
        Ok(located)
    }
}
