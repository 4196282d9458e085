//! Operands in registers: a string of bits per lane, with register 0 in the lowest bits.

use super::super::arithmetic::mask;
use super::super::fault::LaneFault;
use super::super::semantics::InstructionCall;
use tilewright_kernel::{Element, Type};

/// The registers of all lanes for one operand, as a string of bits for each lane. Elements lie at multiples of their
/// width; an element whose width is not a power of two may straddle two 64-bit words.
pub(super) struct RegisterBits {
    chunks_per_lane: usize,
    chunks: Vec<u64>,
}

fn width(ty: Type) -> u32 {
    ty.after_wait().element().map_or(ty.bits(), Element::bits)
}

impl RegisterBits {
    /// Creates zero registers with the bits of `ty`.
    pub(super) fn zeros(lanes: u32, ty: Type) -> Self {
        let chunks_per_lane = ty.bits().div_ceil(64) as usize;
        Self { chunks_per_lane, chunks: vec![0; chunks_per_lane * lanes as usize] }
    }

    /// Reads an operand from the registers of all lanes.
    pub(super) fn operand(call: &InstructionCall<'_>, operand: usize, ty: Type) -> Result<Self, LaneFault> {
        let mut operand_bits = Self::zeros(call.lanes(), ty);
        for lane in 0..call.lanes() {
            for element in 0..ty.count() {
                let bits = call.operand(operand, element, lane)?;
                operand_bits.set(lane, element * width(ty), width(ty), bits);
            }
        }
        Ok(operand_bits)
    }

    /// Writes the registers to the instruction's first result, of type `ty`.
    pub(super) fn into_result(self, call: &mut InstructionCall<'_>, ty: Type) -> Result<(), LaneFault> {
        for lane in 0..call.lanes() {
            for element in 0..ty.count() {
                let bits = self.get(lane, element * width(ty), width(ty));
                call.set_result(0, element, lane, bits)?;
            }
        }
        Ok(())
    }

    pub(super) fn get(&self, lane: u32, at: u32, bits: u32) -> u64 {
        let (chunk, shift) = self.word_and_shift(lane, at);
        let low = self.chunks[chunk] >> shift;
        let high = if shift + bits > 64 { self.chunks[chunk + 1] << (64 - shift) } else { 0 };
        (low | high) & mask(bits)
    }

    pub(super) fn set(&mut self, lane: u32, at: u32, bits: u32, value: u64) {
        let (chunk, shift) = self.word_and_shift(lane, at);
        let value = value & mask(bits);
        self.chunks[chunk] = self.chunks[chunk] & !(mask(bits) << shift) | value << shift;
        if shift + bits > 64 {
            let below = 64 - shift;
            self.chunks[chunk + 1] = self.chunks[chunk + 1] & !(mask(bits) >> below) | value >> below;
        }
    }

    /// Returns the index of the 64-bit word that has bit `at` of a lane's string of bits, and the position of the bit
    /// in the word.
    fn word_and_shift(&self, lane: u32, at: u32) -> (usize, u32) {
        (lane as usize * self.chunks_per_lane + (at / 64) as usize, at % 64)
    }
}
