//! Moves as kernel IR.

use tilewright_kernel::{Builder, Cast, Element, Type, Value};

use super::super::super::address::Thread;
use super::super::super::source::Source;
use super::emit::exchanged;
use super::moves::Move;
use super::words::Words;
use super::{Exchanges, WORD_BITS};
use tilewright_target::LaneXors;

/// A lane across and whether this is the one of the two that has the bit in which they differ.
struct Lanes {
    across: Source,
    odd: Value,
}

impl Lanes {
    fn new(builder: &mut Builder, thread: Thread, lane: u32, xors: LaneXors) -> Self {
        Self { across: Source::across(builder, thread, 1 << lane, xors), odd: thread.parity(builder, 1 << lane) }
    }
}

impl Exchanges {
    /// The words after the moves.
    pub(super) fn traded(&self, builder: &mut Builder, thread: Thread, mut words: Vec<Value>) -> Vec<Value> {
        for one in self.moves.iter() {
            match one {
                Move::Swap { register, lane } => {
                    let bit = outer_bit(&self.words, register);
                    in_pairs(&mut words, bit, |[a, b]| swapped(builder, a, b, 1 << lane));
                }
                Move::Trade { register, lane } => {
                    let bit = outer_bit(&self.words, register);
                    let lanes = Lanes::new(builder, thread, lane, self.xors);
                    in_pairs(&mut words, bit, |pair| traded_by_selects(builder, &lanes, pair));
                }
                Move::Blend { register, lane } => {
                    let bit = inner_bit(&self.words, register);
                    let lanes = Lanes::new(builder, thread, lane, self.xors);
                    match words.as_mut_slice() {
                        [word] => *word = self.blended(builder, &lanes, *word, bit),
                        words => in_pairs(words, 1, |pair| self.blended_pair(builder, &lanes, pair, bit)),
                    }
                }
                Move::Regroup { inner, outer } => {
                    let (inner, outer) = (inner_bit(&self.words, inner), outer_bit(&self.words, outer));
                    let [low, high] = [0, 1].map(|kept| self.selector(|element| own_or_other(element, inner, kept)));
                    in_pairs(&mut words, outer, |[a, b]| {
                        // To the second word its own elements are those of `b`.
                        [builder.permute_bytes(a, b, low), builder.permute_bytes(b, a, high)]
                    });
                }
            }
        }
        words
    }

    /// A word of which lanes keep the elements that have the bit where the lane is odd, and get the others
    /// from the lane across.
    fn blended(&self, builder: &mut Builder, lanes: &Lanes, word: Value, bit: u64) -> Value {
        let [even, odd] = [0, 1].map(|kept| self.selector(|element| own_or_other(element, bit, kept)));
        let received = lanes.across.exchange(builder, word);
        builder.permute_bytes_by(word, received, even, (lanes.odd, odd))
    }

    /// The same of two words by one exchange: what leaves the first goes where the bit is not, what leaves
    /// the second where it is.
    fn blended_pair(&self, builder: &mut Builder, lanes: &Lanes, pair: [Value; 2], bit: u64) -> [Value; 2] {
        let at = |element: u64, number: u64| if number == 1 { element | bit } else { element & !bit };
        let number = |element: u64| u64::from(element & bit != 0);
        let [even, odd] = [1, 0].map(|left| self.selector(|element| (number(element) as u16, at(element, left))));
        let gathered = builder.permute_bytes_by(pair[0], pair[1], even, (lanes.odd, odd));
        let received = lanes.across.exchange(builder, gathered);
        [0, 1].map(|word| {
            let came = |element| (1, at(element, word));
            let [even, odd] = [0, 1].map(|kept| {
                self.selector(|element| if number(element) == kept { (0, element) } else { came(element) })
            });
            builder.permute_bytes_by(pair[word as usize], received, even, (lanes.odd, odd))
        })
    }

    /// The selector that makes a word of elements of two: for each element which word, 0 or 1, and which
    /// of its elements.
    fn selector(&self, source: impl Fn(u64) -> (u16, u64)) -> u16 {
        let bytes = u64::from(self.element.bits() / 8);
        let nibble = |byte: u64| {
            let (word, element) = source(byte / bytes);
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

/// Two words after lanes have traded the first of odd ones for the second of the others.
fn traded_by_selects(builder: &mut Builder, lanes: &Lanes, [a, b]: [Value; 2]) -> [Value; 2] {
    let offered = builder.select(lanes.odd, a, b);
    let received = exchanged(builder, offered, lanes.across);
    [builder.select(lanes.odd, received, a), builder.select(lanes.odd, b, received)]
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
