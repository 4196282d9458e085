//! Emits moves: transpositions of a register bit with a lane bit, or of two register bits.

use tilewright_kernel::{Builder, Cast, Element, Type, Value};

use super::super::super::address::ThreadIndices;
use super::super::super::shuffle_source::Source;
use super::emit::emit_shuffle;
use super::moves::Move;
use super::words::Words;
use super::{ShufflePlan, WORD_BITS};
use tilewright_target::ShuffleXorMasks;

/// The lane whose index differs in one bit, and whether the current lane has that bit set.
struct Lanes {
    across: Source,
    odd: Value,
}

impl Lanes {
    fn new(builder: &mut Builder, thread: ThreadIndices, lane: u32, xors: ShuffleXorMasks) -> Self {
        Self { across: Source::across(builder, thread, 1 << lane, xors), odd: thread.parity(builder, 1 << lane) }
    }
}

impl ShufflePlan {
    /// Emits the moves of the plan; returns the words after them.
    pub(super) fn emit_moves(&self, builder: &mut Builder, thread: ThreadIndices, mut words: Vec<Value>) -> Vec<Value> {
        for one in self.moves.iter() {
            match one {
                Move::Swap { register, lane } => {
                    let bit = outer_bit(&self.words, register);
                    in_pairs(&mut words, bit, |[a, b]| swapped(builder, a, b, 1 << lane));
                }
                Move::ShuffleSwap { register, lane } => {
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
                        // In the second permute `b` is the first operand, because the elements that stay in the second
                        // word come from `b`.
                        [builder.permute_bytes(a, b, low), builder.permute_bytes(b, a, high)]
                    });
                }
            }
        }
        words
    }

    /// Emits a blend of one word between the two lanes of `lanes`: each lane keeps the elements for which the bit `bit`
    /// of the element index equals its own lane bit, and receives the others from the other lane.
    fn blended(&self, builder: &mut Builder, lanes: &Lanes, word: Value, bit: u64) -> Value {
        let [even, odd] = [0, 1].map(|kept| self.selector(|element| own_or_other(element, bit, kept)));
        let received = lanes.across.shuffle(builder, word);
        builder.permute_bytes_by_condition(word, received, even, (lanes.odd, odd))
    }

    /// Emits a blend of a pair of words between the two lanes of `lanes` by one shuffle. In the shuffled word, elements
    /// that leave the first word are at indices without the bit `bit`, those that leave the second word at indices with
    /// it.
    fn blended_pair(&self, builder: &mut Builder, lanes: &Lanes, pair: [Value; 2], bit: u64) -> [Value; 2] {
        let at = |element: u64, half: u64| if half == 1 { element | bit } else { element & !bit };
        let half = |element: u64| u64::from(element & bit != 0);
        let [even, odd] = [1, 0].map(|left| self.selector(|element| (half(element) as u16, at(element, left))));
        let gathered = builder.permute_bytes_by_condition(pair[0], pair[1], even, (lanes.odd, odd));
        let received = lanes.across.shuffle(builder, gathered);
        [0, 1].map(|word| {
            let came = |element| (1, at(element, word));
            let [even, odd] = [0, 1]
                .map(|kept| self.selector(|element| if half(element) == kept { (0, element) } else { came(element) }));
            builder.permute_bytes_by_condition(pair[word as usize], received, even, (lanes.odd, odd))
        })
    }

    /// Returns the byte selector that composes a word from the elements of two words. `source` maps the index of an
    /// element in the new word to the word (0 or 1) that it comes from and its index there.
    fn selector(&self, source: impl Fn(u64) -> (u16, u64)) -> u16 {
        let bytes = u64::from(self.element.bits() / 8);
        let nibble = |byte: u64| {
            let (word, element) = source(byte / bytes);
            (4 * word + (element * bytes + byte % bytes) as u16) << (4 * byte)
        };
        (0..u64::from(WORD_BITS / 8)).map(nibble).fold(0, |selector, nibble| selector | nibble)
    }
}

/// Returns the source of the element with index `element` in a blended word, as (word, index): if the bit `bit` of the
/// index is `kept`, its own word (0) at the same index; otherwise the other lane's word (1), at the index with this bit
/// flipped.
fn own_or_other(element: u64, bit: u64, kept: u64) -> (u16, u64) {
    if u64::from(element & bit != 0) == kept { (0, element) } else { (1, element ^ bit) }
}

/// Returns the bit of the word index, as a power of two, that stands for a source register bit.
fn outer_bit(words: &Words, register: u32) -> usize {
    words.src_outer.iter().position(|&bit| bit == register).map_or(0, |at| 1 << at)
}

/// Returns the bit of the element index within a word, as a power of two, that stands for a source register bit.
fn inner_bit(words: &Words, register: u32) -> u64 {
    words.src_inner.iter().position(|&bit| bit == register).map_or(0, |at| 1 << at)
}

/// Replaces each pair of words whose indices differ in the bit `bit` (a power of two) by the result of `to` on the
/// pair.
fn in_pairs(words: &mut [Value], bit: usize, mut to: impl FnMut([Value; 2]) -> [Value; 2]) {
    for first in (0..words.len()).filter(|word| word & bit == 0) {
        let second = first | bit;
        [words[first], words[second]] = to([words[first], words[second]]);
    }
}

/// Emits a swap of words between two lanes by selects and a shuffle: the lane with the bit set exchanges its word `a`
/// for the word `b` of the other lane.
fn traded_by_selects(builder: &mut Builder, lanes: &Lanes, [a, b]: [Value; 2]) -> [Value; 2] {
    let offered = builder.select(lanes.odd, a, b);
    let received = emit_shuffle(builder, offered, lanes.across);
    [builder.select(lanes.odd, received, a), builder.select(lanes.odd, b, received)]
}

/// Emits a swap between two lanes by the target's instruction; 64-bit words are swapped by their halves.
fn swapped(builder: &mut Builder, a: Value, b: Value, lane: u32) -> [Value; 2] {
    let ty = builder.type_of(a);
    let words_per_element = ty.bits() / WORD_BITS;
    if words_per_element <= 1 {
        return builder.swap(a, b, lane);
    }
    let [a, b] = [a, b].map(|word| builder.cast(Cast::Bits, word, Type::Vector(Element::I32, words_per_element)));
    let mut traded = [Vec::new(), Vec::new()];
    for word_index in 0..words_per_element {
        let (a, b) = (builder.extract(a, word_index), builder.extract(b, word_index));
        let [first, second] = builder.swap(a, b, lane);
        traded[0].push(first);
        traded[1].push(second);
    }
    traded.map(|swapped_words| {
        let packed = builder.pack(&swapped_words);
        builder.cast(Cast::Bits, packed, ty)
    })
}
