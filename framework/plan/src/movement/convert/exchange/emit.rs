//! Exchanges as kernel IR.

use tilewright_kernel::{Binary, Builder, Cast, Element, Type, Value};

use super::super::super::address::{Thread, integer};
use super::super::super::source::Source;
use super::joins::{Join, Joins};
use super::selects::Word;
use super::words::Words;
use super::{Exchanges, Round, WORD_BITS};

/// The words of the running thread, emitted as they are needed.
struct Emitted<'a> {
    exchanges: &'a Exchanges,
    thread: Thread,
    conditions: Vec<Option<Value>>,
    source: Vec<Value>,
    received: Vec<Option<Value>>,
    selected: Vec<Option<Value>>,
}

impl Emitted<'_> {
    fn word(&mut self, builder: &mut Builder, word: Word) -> Value {
        let number = match word {
            Word::Source(number) => return self.source[number as usize],
            Word::Received(round) => return self.received[round as usize].unwrap_or(self.source[0]),
            Word::Selected(number) => number as usize,
        };
        if let Some(known) = self.selected[number] {
            return known;
        }
        let select = self.exchanges.selects.selects[number];
        let condition = self.condition(builder, select.parity as usize);
        let (odd, even) = (self.word(builder, select.odd), self.word(builder, select.even));
        let value = builder.select(condition, odd, even);
        self.selected[number] = Some(value);
        value
    }

    fn joined(&mut self, builder: &mut Builder, join: &Join) -> Value {
        let odd = self.condition(builder, join.parity as usize);
        let (a, b) = (self.word(builder, join.a), self.word(builder, join.b));
        builder.permute_bytes_by(a, b, join.even, (odd, join.odd))
    }

    fn condition(&mut self, builder: &mut Builder, parity: usize) -> Value {
        if let Some(known) = self.conditions[parity] {
            return known;
        }
        let condition = self.thread.parity(builder, self.exchanges.selects.parities[parity]);
        self.conditions[parity] = Some(condition);
        condition
    }
}

impl Exchanges {
    pub(in super::super) fn emit(&self, builder: &mut Builder, registers: &[Value]) -> Vec<Value> {
        let thread = Thread::new(builder, self.lane_bits);
        let packed = self.pack(builder, registers);
        let mut emitted = Emitted {
            exchanges: self,
            thread,
            conditions: vec![None; self.selects.parities.len()],
            source: self.traded(builder, thread, packed),
            received: vec![None; self.rounds.len()],
            selected: vec![None; self.selects.selects.len()],
        };
        let by_index = |round: &Round| !round.stays() && self.across(round).is_none();
        let lanes = self.rounds.iter().any(by_index).then(|| {
            let lane_columns = self.lane_columns();
            thread.product(builder, &lane_columns)
        });
        for (number, round) in self.rounds.iter().enumerate() {
            let Some(offered) = round.offered else { continue };
            let source = match (self.across(round), lanes) {
                (Some(mask), _) => Source::Across(mask),
                (None, Some(lanes)) => Source::Lane(self.lane_of_round(builder, lanes, round)),
                (None, None) => continue,
            };
            let offered = emitted.word(builder, offered);
            emitted.received[number] = Some(exchanged(builder, offered, source));
        }
        if let Some(Joins { joins, words }) = &self.joins {
            let joined: Vec<Value> = joins.iter().map(|join| emitted.joined(builder, join)).collect();
            return self.unpack(builder, words, &joined);
        }
        let taken: Vec<Value> = self.taken.iter().map(|&word| emitted.word(builder, word)).collect();
        self.unpack(builder, &self.words, &taken)
    }

    /// The columns of the source lane.
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

    /// Source registers as words.
    fn pack(&self, builder: &mut Builder, registers: &[Value]) -> Vec<Value> {
        let elements = 1u64 << self.words.src_inner.len();
        let word = |builder: &mut Builder, word: u64| {
            let group: Vec<Value> =
                (0..elements).map(|element| registers[self.words.src_register(word, element) as usize]).collect();
            let packed = builder.pack(&group);
            let bits = builder.type_of(packed).bits();
            let whole = builder.cast(Cast::Bits, packed, integer(bits));
            if bits < WORD_BITS { builder.cast(Cast::ExtendU, whole, integer(WORD_BITS)) } else { whole }
        };
        (0..1u64 << self.words.src_outer.len()).map(|index| word(builder, index)).collect()
    }

    /// Words as destination registers.
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
        let elements = builder.cast(Cast::Bits, word, Type::of(self.element, count));
        (0..count).map(|index| builder.extract(elements, index)).collect()
    }
}

/// A word from another lane; a wide one by its halves.
pub(super) fn exchanged(builder: &mut Builder, word: Value, source: Source) -> Value {
    let ty = builder.type_of(word);
    let parts = ty.bits() / WORD_BITS;
    if parts <= 1 {
        return source.exchange(builder, word);
    }
    let halves = builder.cast(Cast::Bits, word, Type::Vector(Element::I32, parts));
    let received: Vec<Value> = (0..parts)
        .map(|part| {
            let half = builder.extract(halves, part);
            source.exchange(builder, half)
        })
        .collect();
    let packed = builder.pack(&received);
    builder.cast(Cast::Bits, packed, ty)
}
