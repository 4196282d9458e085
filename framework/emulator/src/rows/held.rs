//! Operands as lanes hold them: for each lane a string of bits, register 0 in the lowest.

use super::super::arithmetic::mask;
use super::super::fault::LaneFault;
use super::super::meaning::Call;
use tilewright_kernel::{Element, Type};

/// What all lanes hold of one operand. Fields lie at multiples of their width; one whose width is no power of two may
/// straddle two words.
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
        let (word, shift) = self.place(lane, at);
        let low = self.words[word] >> shift;
        let high = if shift + bits > 64 { self.words[word + 1] << (64 - shift) } else { 0 };
        (low | high) & mask(bits)
    }

    pub(super) fn set(&mut self, lane: u32, at: u32, bits: u32, value: u64) {
        let (word, shift) = self.place(lane, at);
        let value = value & mask(bits);
        self.words[word] = self.words[word] & !(mask(bits) << shift) | value << shift;
        if shift + bits > 64 {
            let below = 64 - shift;
            self.words[word + 1] = self.words[word + 1] & !(mask(bits) >> below) | value >> below;
        }
    }

    /// The word and the bit of it where a field begins.
    fn place(&self, lane: u32, at: u32) -> (usize, u32) {
        (lane as usize * self.words_per_lane + (at / 64) as usize, at % 64)
    }
}
