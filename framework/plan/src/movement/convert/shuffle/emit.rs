//! Emits shuffle plans.

use tilewright_kernel::{Binary, Builder, Cast, Element, Type, Value};

use super::super::super::address::{ThreadIndices, integer};
use super::super::super::shuffle_source::Source;
use super::byte_merges::{ByteMerge, ByteMerges};
use super::selects::Word;
use super::words::Words;
use super::{Round, ShufflePlan, WORD_BITS};

/// The words of the running thread as kernel values; a word's operations are emitted when it is first needed.
struct Emitted<'a> {
    shuffles: &'a ShufflePlan,
    thread: ThreadIndices,
    conditions: Vec<Option<Value>>,
    source: Vec<Value>,
    received: Vec<Option<Value>>,
    selected: Vec<Option<Value>>,
}

impl Emitted<'_> {
    fn word(&mut self, builder: &mut Builder, word: Word) -> Value {
        let id = match word {
            Word::Source(id) => return self.source[id as usize],
            Word::Received(round) => return self.received[round as usize].unwrap_or(self.source[0]),
            Word::Selected(id) => id as usize,
        };
        if let Some(known) = self.selected[id] {
            return known;
        }
        let select = self.shuffles.selects.selects[id];
        let condition = self.condition(builder, select.parity as usize);
        let (odd, even) = (self.word(builder, select.odd), self.word(builder, select.even));
        let value = builder.select(condition, odd, even);
        self.selected[id] = Some(value);
        value
    }

    fn joined(&mut self, builder: &mut Builder, join: &ByteMerge) -> Value {
        let odd = self.condition(builder, join.parity as usize);
        let (a, b) = (self.word(builder, join.a), self.word(builder, join.b));
        builder.permute_bytes_by_condition(a, b, join.even, (odd, join.odd))
    }

    fn condition(&mut self, builder: &mut Builder, parity: usize) -> Value {
        if let Some(known) = self.conditions[parity] {
            return known;
        }
        let condition = self.thread.parity(builder, self.shuffles.selects.parities[parity]);
        self.conditions[parity] = Some(condition);
        condition
    }
}

impl ShufflePlan {
    pub(in super::super) fn emit(&self, builder: &mut Builder, registers: &[Value]) -> Vec<Value> {
        let thread = ThreadIndices::new(builder, self.lane_bits);
        let packed = self.pack(builder, registers);
        let mut emitted = Emitted {
            shuffles: self,
            thread,
            conditions: vec![None; self.selects.parities.len()],
            source: self.emit_moves(builder, thread, packed),
            received: vec![None; self.rounds.len()],
            selected: vec![None; self.selects.selects.len()],
        };
        let by_index = |round: &Round| !round.stays() && self.across(round).is_none();
        let lanes = self.rounds.iter().any(by_index).then(|| {
            let lane_columns = self.lane_columns();
            thread.emit_f2_product(builder, &lane_columns)
        });
        for (id, round) in self.rounds.iter().enumerate() {
            let Some(offered) = round.offered else { continue };
            let source = match (self.across(round), lanes) {
                (Some(mask), _) => Source::Across(mask),
                (None, Some(lanes)) => Source::Lane(self.lane_of_round(builder, lanes, round)),
                (None, None) => continue,
            };
            let offered = emitted.word(builder, offered);
            emitted.received[id] = Some(emit_shuffle(builder, offered, source));
        }
        if let Some(ByteMerges { byte_merges, words }) = &self.byte_merges {
            let joined: Vec<Value> = byte_merges.iter().map(|join| emitted.joined(builder, join)).collect();
            return self.unpack(builder, words, &joined);
        }
        let taken: Vec<Value> = self.taken.iter().map(|&word| emitted.word(builder, word)).collect();
        self.unpack(builder, &self.words, &taken)
    }

    /// Returns, for each bit of the thread index, the bits that it flips in the index of the lane from which the thread
    /// reads.
    fn lane_columns(&self) -> Vec<u64> {
        let mask = (1u64 << self.lane_bits) - 1;
        self.source_thread.iter().map(|&thread| thread & mask).collect()
    }

    fn lane_of_round(&self, builder: &mut Builder, lanes: Value, round: &Round) -> Value {
        let constant = round.thread & ((1 << self.lane_bits) - 1);
        if constant == 0 {
            return lanes;
        }
        builder.binary_const(Binary::Xor, lanes, constant as u32)
    }

    /// Packs the source registers into words; narrow elements share a word.
    fn pack(&self, builder: &mut Builder, registers: &[Value]) -> Vec<Value> {
        let elements = 1u64 << self.words.src_inner.len();
        let word = |builder: &mut Builder, word: u64| {
            let group: Vec<Value> =
                (0..elements).map(|element| registers[self.words.src_register(word, element) as usize]).collect();
            let packed = builder.pack(&group);
            let bits = builder.type_of(packed).bits();
            let as_integer = builder.cast(Cast::Bits, packed, integer(bits));
            if bits < WORD_BITS { builder.cast(Cast::ExtendU, as_integer, integer(WORD_BITS)) } else { as_integer }
        };
        (0..1u64 << self.words.src_outer.len()).map(|index| word(builder, index)).collect()
    }

    /// Unpacks words to the destination registers.
    fn unpack(&self, builder: &mut Builder, words: &Words, values: &[Value]) -> Vec<Value> {
        let count = 1u32 << words.dst_inner.len();
        let groups: Vec<Vec<Value>> = values.iter().map(|&word| self.elements_of(builder, word, count)).collect();
        let bits = words.dst_outer.len() + words.dst_inner.len() + words.dst_copies.len();
        let register = |register: u64| {
            let (word, element) = words.dst_word(register);
            groups[word as usize][element as usize]
        };
        (0..1u64 << bits).map(register).collect()
    }

    fn elements_of(&self, builder: &mut Builder, word: Value, count: u32) -> Vec<Value> {
        let used = integer(self.element.bits() * count);
        let word = builder.cast(Cast::Truncate, word, used);
        let elements = builder.cast(Cast::Bits, word, Type::vector_or_scalar(self.element, count));
        (0..count).map(|index| builder.extract(elements, index)).collect()
    }
}

/// Emits the shuffle of a word; a 64-bit word is shuffled by its halves.
pub(super) fn emit_shuffle(builder: &mut Builder, word: Value, source: Source) -> Value {
    let ty = builder.type_of(word);
    let words_per_element = ty.bits() / WORD_BITS;
    if words_per_element <= 1 {
        return source.shuffle(builder, word);
    }
    let word_vector = builder.cast(Cast::Bits, word, Type::Vector(Element::I32, words_per_element));
    let received: Vec<Value> = (0..words_per_element)
        .map(|word_index| {
            let half = builder.extract(word_vector, word_index);
            source.shuffle(builder, half)
        })
        .collect();
    let packed = builder.pack(&received);
    builder.cast(Cast::Bits, packed, ty)
}
