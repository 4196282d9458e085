//! Operands as lanes hold them: for each lane a string of bits, register 0 in the lowest.

use super::super::arithmetic::mask;
use super::super::fault::LaneFault;
use super::super::meaning::Call;
use crate::kernel::{Element, Type};

/// What all lanes hold of one operand. Fields are as wide as a power of two and lie at multiples of
/// their width, so none straddles two words.
pub(super) struct Held {
    words_per_lane: usize,
    words: Vec<u64>,
}

fn width(ty: Type) -> u32 {
    ty.awaited().element().map_or(ty.bits(), Element::bits)
}

impl Held {
    /// As many bits as values of `ty` have, all zero.
    pub(super) fn zeros(lanes: u32, ty: Type) -> Self {
        let words_per_lane = ty.bits().div_ceil(64) as usize;
        Self { words_per_lane, words: vec![0; words_per_lane * lanes as usize] }
    }

    /// What the lanes hold of an operand.
    pub(super) fn operand(call: &Call<'_>, operand: usize, ty: Type) -> Result<Self, LaneFault> {
        let mut held = Self::zeros(call.lanes(), ty);
        for lane in 0..call.lanes() {
            for element in 0..ty.count() {
                let bits = call.operand(operand, element, lane)?;
                held.set(lane, element * width(ty), width(ty), bits);
            }
        }
        Ok(held)
    }

    /// Makes this the first result.
    pub(super) fn into_result(self, call: &mut Call<'_>, ty: Type) -> Result<(), LaneFault> {
        for lane in 0..call.lanes() {
            for element in 0..ty.count() {
                let bits = self.get(lane, element * width(ty), width(ty));
                call.set_result(0, element, lane, bits)?;
            }
        }
        Ok(())
    }

    pub(super) fn get(&self, lane: u32, at: u32, bits: u32) -> u64 {
        let word = self.words[lane as usize * self.words_per_lane + (at / 64) as usize];
        word >> (at % 64) & mask(bits)
    }

    pub(super) fn set(&mut self, lane: u32, at: u32, bits: u32, value: u64) {
        let word = &mut self.words[lane as usize * self.words_per_lane + (at / 64) as usize];
        *word = *word & !(mask(bits) << (at % 64)) | (value & mask(bits)) << (at % 64);
    }
}
