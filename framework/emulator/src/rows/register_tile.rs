//! Matrices distributed over registers.

use super::super::arithmetic::UNSPECIFIED;
use super::super::fault::LaneFault;
use super::super::semantics::InstructionCall;
use super::operand::{element_type, position};
use super::operand_bits::RegisterBits;
use tilewright_layout::{Dim, LinearLayout};
use tilewright_target::{ElementType, Instruction, InstructionOperand};

/// A matrix that is distributed over the registers of lanes and warps.
pub(super) struct RegisterTile {
    /// Index of the operand among the operands of the instruction.
    operand: usize,
    pub(super) element_type: ElementType,
    /// Width in bits of an element's container.
    bits: u32,
    /// Log2 of the numbers of rows, columns and blocks.
    pub(super) shape: [u32; 3],
    /// For each of the warps that issue together and each element (block, then row, then column fastest): all (lane,
    /// register) pairs that hold the element.
    lane_registers: Vec<Vec<Vec<(u32, u32)>>>,
}

impl RegisterTile {
    pub(super) fn of(row: &Instruction, required: &str) -> Result<Self, String> {
        let missing = || format!("its description has no register operand `{required}`");
        let found = row.find_matrix_operand(required).ok_or_else(missing)?;
        let InstructionOperand::Register { element, bits, layout, .. } = found else { return Err(missing()) };
        let element_type = element_type(element, *bits)?;
        let shape = [0, 1, 2].map(|axis| layout.out_bits(Dim::tensor(axis)));
        if shape.iter().sum::<u32>() != layout.outs().total_bits() {
            return Err(format!("operand `{required}` has other axes than dim0, dim1 and dim2"));
        }
        Ok(Self {
            operand: position(row, found),
            element_type,
            bits: *bits,
            shape,
            lane_registers: lane_registers(layout, shape),
        })
    }

    /// Number of warps that issue together.
    pub(super) fn warps(&self) -> usize {
        self.lane_registers.len()
    }

    /// Index of the running warp among the warps that issue together.
    pub(super) fn warp(&self, call: &InstructionCall<'_>) -> usize {
        call.warp() as usize % self.lane_registers.len()
    }

    /// Whether some lane of a warp holds the element with the index `at`.
    pub(super) fn holds(&self, warp: usize, at: usize) -> bool {
        self.lane_registers[warp].get(at).is_some_and(|registers| !registers.is_empty())
    }

    /// Returns the bits of all elements of the tile, ordered by block, row and column; zeros for elements that the
    /// running warp does not hold.
    pub(super) fn elements(&self, call: &InstructionCall<'_>) -> Result<Vec<u64>, LaneFault> {
        let ty =
            call.operand_types().nth(self.operand).ok_or_else(|| call.invalid_use_fault("an operand is missing"))?;
        let operand_bits = RegisterBits::operand(call, self.operand, ty.after_wait())?;
        let at =
            |&(lane, register): &(u32, u32)| operand_bits.get(lane, register * self.bits, self.element_type.bits());
        let warp_places = &self.lane_registers[self.warp(call)];
        let mut elements = Vec::with_capacity(warp_places.len());
        for lane_registers in warp_places {
            let mut all = lane_registers.iter().map(|position| (position, at(position)));
            let Some((&(first, _), bits)) = all.next() else {
                elements.push(0);
                continue;
            };
            if let Some((&(other, _), _)) = all.find(|&(_, other)| other != bits) {
                let message = format!("lanes {first} and {other} have different values of one element");
                return Err(call.invalid_use_fault(&format!("operand {}: {message}", self.operand)));
            }
            elements.push(bits);
        }
        Ok(elements)
    }

    /// Fills the registers of an element beyond the shape with an unspecified value.
    pub(super) fn fill_unspecified(&self, operand_bits: &mut RegisterBits, warp: usize, at: usize) {
        for &(lane, register) in self.lane_registers[warp].get(at).into_iter().flatten() {
            operand_bits.set(lane, register * self.bits, self.bits, UNSPECIFIED);
        }
    }

    /// Writes the bits of one element of the result to the registers of all lanes that hold the element.
    pub(super) fn put(&self, operand_bits: &mut RegisterBits, warp: usize, at: usize, bits: u64) {
        let bits =
            if self.element_type.bits() < self.bits { bits | UNSPECIFIED << self.element_type.bits() } else { bits };
        for &(lane, register) in self.lane_registers[warp].get(at).into_iter().flatten() {
            operand_bits.set(lane, register * self.bits, self.bits, bits);
        }
    }
}

/// Returns all (lane, register) pairs of each element for each warp; elements by block, then row, then column.
fn lane_registers(layout: &LinearLayout, [rows, columns, blocks]: [u32; 3]) -> Vec<Vec<Vec<(u32, u32)>>> {
    let mut lane_registers = vec![vec![Vec::new(); 1 << (rows + columns + blocks)]; 1 << layout.in_bits(Dim::WARP)];
    let (ins, outs) = (layout.ins(), layout.outs());
    for packed in 0..1u64 << ins.total_bits() {
        let image = layout.apply_packed(packed);
        let [row, column, block] = [0, 1, 2].map(|axis| outs.coordinate(image, Dim::tensor(axis)));
        let element = (block << rows | row) << columns | column;
        let [lane, register, warp] = [Dim::LANE, Dim::REGISTER, Dim::WARP].map(|dim| ins.coordinate(packed, dim));
        lane_registers[warp as usize][element as usize].push((lane as u32, register as u32));
    }
    lane_registers
}
