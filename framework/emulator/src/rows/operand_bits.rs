//! Operands in registers: a string of bits per lane, with register 0 in the lowest bits.

use super::super::arithmetic::mask;
use super::super::fault::LaneFault;
use super::super::semantics::InstructionCall;
use tilewright_kernel::{Element, Type};

/// The registers of all lanes for one operand, as a string of bits for each lane. Elements lie at multiples of their
/// width; an element whose width is not a power of two may straddle two registers.
pub(super) struct RegisterBits {
    lanes: usize,
    /// Log2 of the width of a register in bits.
    log_width: u32,
    /// The registers in the order of the register file: those of all lanes for each element.
    registers: Vec<u64>,
}

impl RegisterBits {
    /// Creates zero registers with the bits of `ty`.
    pub(super) fn zeros(lanes: u32, ty: Type) -> Self {
        Self::new(lanes as usize, ty, vec![0; (ty.element_count() * lanes) as usize])
    }

    fn new(lanes: usize, ty: Type, registers: Vec<u64>) -> Self {
        let width = ty.after_wait().element().map_or(ty.bits(), Element::bits);
        Self { lanes, log_width: width.trailing_zeros(), registers }
    }

    /// Reads an operand from the registers of all lanes.
    pub(super) fn operand(call: &InstructionCall<'_>, operand: usize, ty: Type) -> Result<Self, LaneFault> {
        let missing = || call.invalid_use_fault(&format!("operand {operand} is missing"));
        let &(at, _) = call.instruction.operands.get(operand).ok_or_else(missing)?;
        Ok(Self::new(call.lanes, ty, call.registers[at..at + ty.element_count() as usize * call.lanes].to_vec()))
    }

    /// Writes the registers to the instruction's first result.
    pub(super) fn into_result(self, call: &mut InstructionCall<'_>) -> Result<(), LaneFault> {
        let &(at, _) = call.instruction.results.first().ok_or_else(|| call.invalid_use_fault("it has no result"))?;
        call.registers[at..at + self.registers.len()].copy_from_slice(&self.registers);
        Ok(())
    }

    pub(super) fn get(&self, lane: u32, at: u32, bits: u32) -> u64 {
        let mut value = 0;
        each_register((self.lanes, self.log_width), lane, at, bits, |register, shift, done, bits| {
            value |= (self.registers[register] >> shift & mask(bits)) << done;
        });
        value
    }

    pub(super) fn set(&mut self, lane: u32, at: u32, bits: u32, value: u64) {
        let Self { lanes, log_width, .. } = *self;
        let registers = &mut self.registers;
        each_register((lanes, log_width), lane, at, bits, |register, shift, done, bits| {
            registers[register] = registers[register] & !(mask(bits) << shift) | (value >> done & mask(bits)) << shift;
        });
    }
}

/// Calls `visit` for each register that has some of the `bits` bits from bit `at` of a lane's string: the register, the
/// lowest of these bits in it, the number of bits before them, and their number.
fn each_register(
    (lanes, log_width): (usize, u32),
    lane: u32,
    at: u32,
    bits: u32,
    mut visit: impl FnMut(usize, u32, u32, u32),
) {
    let mut done = 0;
    while done < bits {
        let (element, shift) = ((at + done) >> log_width, (at + done) & ((1 << log_width) - 1));
        let here = (bits - done).min((1 << log_width) - shift);
        visit(element as usize * lanes + lane as usize, shift, done, here);
        done += here;
    }
}
