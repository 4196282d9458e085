//! Moves as kernel IR.

use crate::kernel::{Builder, Cast, Element, Type, Value};

use super::super::super::address::Thread;
use super::moves::Move;
use super::words::Words;
use super::{Exchanges, WORD_BITS};

/// Four bytes of a word that is built from two: which word, 0 or 1, and which of its elements.
type Source = fn(u64, u64) -> (u16, u64);

impl Exchanges {
    /// The words after the moves.
    pub(super) fn traded(&self, builder: &mut Builder, thread: Thread, mut words: Vec<Value>) -> Vec<Value> {
        for one in self.moves.iter() {
            match one {
                Move::Swap { register, lane } => {
                    let bit = outer_bit(&self.words, register);
                    in_pairs(&mut words, bit, |[a, b]| swapped(builder, a, b, 1 << lane));
                }
                Move::Blend { register, lane } => {
                    let bit = inner_bit(&self.words, register);
                    let (across, odd) = (thread.neighbour(builder, 1 << lane), thread.parity(builder, 1 << lane));
                    let usual = self.selector(bit, |element, bit| own_or_other(element, bit, 0));
                    let other = self.selector(bit, |element, bit| own_or_other(element, bit, 1));
                    for word in &mut words {
                        let received = builder.exchange(*word, across);
                        *word = builder.permute_bytes_by(*word, received, usual, (odd, other));
                    }
                }
                Move::Regroup { inner, outer } => {
                    let (inner, outer) = (inner_bit(&self.words, inner), outer_bit(&self.words, outer));
                    let low = self.selector(inner, |element, bit| own_or_other(element, bit, 0));
                    let high = self.selector(inner, |element, bit| own_or_other(element, bit, 1));
                    in_pairs(&mut words, outer, |[a, b]| {
                        // To the second word its own elements are those of `b`.
                        [builder.permute_bytes(a, b, low), builder.permute_bytes(b, a, high)]
                    });
                }
            }
        }
        words
    }

    /// The selector that makes a word of elements of two.
    fn selector(&self, bit: u64, source: Source) -> u16 {
        let bytes = u64::from(self.element.bits() / 8);
        let nibble = |byte: u64| {
            let (word, element) = source(byte / bytes, bit);
            (4 * word + (element * bytes + byte % bytes) as u16) << (4 * byte)
        };
        (0..u64::from(WORD_BITS / 8)).map(nibble).fold(0, |selector, nibble| selector | nibble)
    }
}

/// Elements whose index has `kept` in the given bit stay in their place; in the other places come
/// those of the other word whose index has it not.
fn own_or_other(element: u64, bit: u64, kept: u64) -> (u16, u64) {
    if u64::from(element & bit != 0) == kept { (0, element) } else { (1, element ^ bit) }
}

/// What number of a word the register bit adds to.
fn outer_bit(words: &Words, register: u32) -> usize {
    words.src_outer.iter().position(|&bit| bit == register).map_or(0, |at| 1 << at)
}

/// What number of an element inside a word the register bit adds to.
fn inner_bit(words: &Words, register: u32) -> u64 {
    words.src_inner.iter().position(|&bit| bit == register).map_or(0, |at| 1 << at)
}

/// Does something to every two words whose numbers differ in one bit.
fn in_pairs(words: &mut [Value], bit: usize, mut to: impl FnMut([Value; 2]) -> [Value; 2]) {
    for first in (0..words.len()).filter(|word| word & bit == 0) {
        let second = first | bit;
        [words[first], words[second]] = to([words[first], words[second]]);
    }
}

/// Two words after lanes have swapped them; wide ones by their halves.
fn swapped(builder: &mut Builder, a: Value, b: Value, lane: u32) -> [Value; 2] {
    let ty = builder.type_of(a);
    let parts = ty.bits() / WORD_BITS;
    if parts <= 1 {
        return builder.swap(a, b, lane);
    }
    let [a, b] = [a, b].map(|word| builder.cast(Cast::Bits, word, Type::Vector(Element::I32, parts)));
    let mut traded = [Vec::new(), Vec::new()];
    for part in 0..parts {
        let (a, b) = (builder.extract(a, part), builder.extract(b, part));
        let [first, second] = builder.swap(a, b, lane);
        traded[0].push(first);
        traded[1].push(second);
    }
    traded.map(|halves| {
        let packed = builder.pack(&halves);
        builder.cast(Cast::Bits, packed, ty)
    })
}
