//! Conversions within warps, by exchanges between lanes.
//!
//! Round `j` hands out one word to every thread. Thread `t` takes in destination word `j ^ P t`,
//! for a linear `P` from threads to words chosen so that each source thread is asked for one word
//! only; that word is then a linear function `k ^ Q t'` of the round and the offering thread (seed
//! 000, section 5.4: `P` pairs its sets E and F). Which word a thread offers and where it puts what
//! it receives depends on the thread where `Q` and `P` are not zero: those steps are selects.
//!
//! Words are 32 bits: narrow elements are packed where source and destination keep them together,
//! wide ones are split.

use std::collections::BTreeSet;

use crate::f2::{Solver, multiply};
use crate::kernel::{Builder, Cast, Counts, Element, Type, Value};
use crate::target::TargetDescription;

use super::address::{Thread, integer};
use super::bound;
use super::conversion::{Origin, Position};
use super::plan::{Path, Plan, Steps};
use super::{Conversion, cost};

const WORD_BITS: u32 = 32;

/// How the exchanges go.
#[derive(Debug, Clone)]
pub(super) struct Exchanges {
    element: Element,
    lane_bits: u32,
    pub(super) words: Words,
    pub(super) rounds: Vec<Round>,
    /// Selects before the rounds.
    offered: Vec<Step>,
    /// Selects after the rounds.
    pub(super) taken: Vec<Step>,
    /// Columns of the source thread, one for each thread bit.
    pub(super) source_thread: Vec<u64>,
}

/// Exchanges words that differ by `word_bits` in the threads where the parity of `thread_mask` is
/// odd.
#[derive(Debug, Clone, Copy)]
pub(super) struct Swap {
    pub(super) word_bits: u64,
    pub(super) thread_mask: u64,
}

/// A swap, and the words whose value after it is wanted: each is a select.
#[derive(Debug, Clone)]
pub(super) struct Step {
    pub(super) swap: Swap,
    words: Vec<u64>,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Round {
    /// Source word that thread 0 offers.
    src: u64,
    /// Source thread for thread 0.
    pub(super) thread: u64,
    /// Whether every thread reads from itself.
    pub(super) stays: bool,
}

/// How registers make up words, on each side.
#[derive(Debug, Clone)]
pub(super) struct Words {
    /// Source register bits inside a word, the lowest element bit first.
    src_inner: Vec<u32>,
    /// Source register bits that number words.
    src_outer: Vec<u32>,
    /// Destination register bits inside a word.
    dst_inner: Vec<u32>,
    /// Destination register bits that number words.
    dst_outer: Vec<u32>,
    /// Destination register bits that only replicate.
    dst_copies: Vec<u32>,
}

pub(super) fn plan(conversion: &Conversion, target: &TargetDescription) -> Result<Plan, String> {
    let exchange_bits = target.index_exchange_bits().ok_or("the target has no exchange by lane index")?;
    if exchange_bits != WORD_BITS {
        return Err(format!("exchanges of {exchange_bits} bits; words of {WORD_BITS} are planned"));
    }
    let origin = conversion.origin.as_ref().ok_or("elements cross blocks")?;
    stays_in_warp(conversion, origin)?;
    let words = Words::new(conversion, origin);
    let map = WordMap::new(origin, &words);
    let few_selects = choose_destinations(&map);
    let few_exchanges = stay_at_home(&map);
    let plans = few_selects.iter().chain(&few_exchanges).map(|dst_columns| {
        let exchanges = build(conversion, words.clone(), &map, dst_columns);
        priced(conversion, exchanges, exchange_bits, target)
    });
    let cheapest = plans.min_by(|a, b| a.cost.total_cmp(&b.cost));
    cheapest.ok_or_else(|| "threads ask one thread for several words in any order".to_owned())
}

fn priced(conversion: &Conversion, exchanges: Exchanges, exchange_bits: u32, target: &TargetDescription) -> Plan {
    let counts = exchanges.counts();
    let bound = bound::of_exchanges(conversion, exchange_bits);
    let above = counts.exchanges > bound.exchanges;
    Plan {
        path: if counts.exchanges == 0 { Path::Register } else { Path::Shuffle },
        counts,
        shared_bytes: 0,
        cost: cost(&counts, conversion.warps(), 1, target),
        bound,
        above_bound: above.then(|| exchanges.why_above(bound.exchanges)),
        steps: Steps::Exchanges(exchanges),
    }
}

fn stays_in_warp(conversion: &Conversion, origin: &Origin) -> Result<(), String> {
    let lanes = conversion.lane_mask();
    let crosses = |p: &Position, own: u64| p.thread & !lanes != own & !lanes;
    let threads = origin.of_threads.iter().enumerate().any(|(bit, p)| crosses(p, 1 << bit));
    if threads || origin.of_registers.iter().any(|p| crosses(p, 0)) {
        return Err("a warp needs elements of other warps".to_owned());
    }
    Ok(())
}

impl Words {
    fn new(conversion: &Conversion, origin: &Origin) -> Self {
        let room = (WORD_BITS / conversion.element.bits()).max(1).trailing_zeros() as usize;
        let (mut src_inner, mut dst_inner, mut dst_copies) = (Vec::new(), Vec::new(), Vec::new());
        for (bit, source) in (0u32..).zip(&origin.of_registers) {
            if *source == Position::default() {
                dst_copies.push(bit);
            }
        }
        for (bit, source) in (0u32..).zip(&origin.of_registers) {
            let moves_one_bit = source.thread == 0 && source.register.is_power_of_two();
            if dst_inner.len() < room && moves_one_bit && alone(origin, bit, source.register) {
                src_inner.push(source.register.trailing_zeros());
                dst_inner.push(bit);
            }
        }
        let others = |count: usize, taken: &[&[u32]]| -> Vec<u32> {
            (0..count as u32).filter(|bit| !taken.iter().any(|t| t.contains(bit))).collect()
        };
        Self {
            src_outer: others(conversion.src.registers.len(), &[&src_inner]),
            dst_outer: others(conversion.dst.registers.len(), &[&dst_inner, &dst_copies]),
            src_inner,
            dst_inner,
            dst_copies,
        }
    }

    fn src_register(&self, word: u64, element: u64) -> u64 {
        spread(word, &self.src_outer) | spread(element, &self.src_inner)
    }

    pub(super) fn dst_word(&self, register: u64) -> (u64, u64) {
        (gather(register, &self.dst_outer), gather(register, &self.dst_inner))
    }
}

/// Whether the source register bit comes from this one destination bit only.
fn alone(origin: &Origin, bit: u32, register: u64) -> bool {
    let others = (0u32..).zip(&origin.of_registers).filter(|&(other, _)| other != bit).map(|(_, p)| p);
    others.chain(&origin.of_threads).all(|p| p.register & register == 0)
}

fn spread(packed: u64, bits: &[u32]) -> u64 {
    bits.iter().enumerate().fold(0, |sum, (at, &bit)| sum | (packed >> at & 1) << bit)
}

fn gather(spread: u64, bits: &[u32]) -> u64 {
    bits.iter().enumerate().fold(0, |sum, (at, &bit)| sum | (spread >> bit & 1) << at)
}

/// Where words come from: the origin of positions, registers counted in words.
struct WordMap {
    of_words: Vec<Position>,
    of_threads: Vec<Position>,
}

impl WordMap {
    fn new(origin: &Origin, words: &Words) -> Self {
        let counted = |p: Position| Position { register: gather(p.register, &words.src_outer), thread: p.thread };
        let of_words = words.dst_outer.iter().map(|&bit| counted(origin.of_registers[bit as usize]));
        Self { of_words: of_words.collect(), of_threads: origin.of_threads.iter().map(|&p| counted(p)).collect() }
    }

    fn of_word(&self, word: u64) -> Position {
        let images = self.of_words.iter().enumerate().filter(|(bit, _)| word >> bit & 1 == 1);
        images.fold(Position::default(), |sum, (_, image)| sum.plus(*image))
    }
}

impl Position {
    fn plus(self, other: Self) -> Self {
        Self { register: self.register ^ other.register, thread: self.thread ^ other.thread }
    }
}

/// The columns of `P`: for each thread bit the word that it adds to the round's. Every combination
/// of thread bits that reads from thread 0 must read word 0.
fn choose_destinations(map: &WordMap) -> Option<Vec<u64>> {
    let mut chosen = Vec::new();
    let mut budget = 100_000u32;
    search(map, &mut Pairs::default(), &mut chosen, &mut budget).then_some(chosen)
}

/// The columns of a `P` with which every thread reads from itself in the rounds of words that all
/// threads hold already; the other rounds are no more than the words that are missing. `None` where
/// some thread holds none of what it wants.
fn stay_at_home(map: &WordMap) -> Option<Vec<u64>> {
    let threads: Vec<u64> = map.of_words.iter().map(|p| p.thread).collect();
    let solver = Solver::new(&threads);
    let own = map.of_threads.iter().enumerate();
    own.map(|(bit, p)| solver.solve(p.thread ^ 1 << bit)).collect()
}

/// A span of (source thread, source word) pairs in which a zero thread always has a zero word.
#[derive(Clone, Default)]
struct Pairs {
    pivots: Vec<Position>,
}

impl Pairs {
    /// Adds a pair; false where it breaks the rule.
    fn insert(&mut self, pair: Position) -> bool {
        let mut rest = pair;
        for pivot in &self.pivots {
            if rest.thread & (pivot.thread & pivot.thread.wrapping_neg()) != 0 {
                rest = rest.plus(*pivot);
            }
        }
        if rest.thread == 0 {
            return rest.register == 0;
        }
        self.pivots.push(rest);
        true
    }
}

fn search(map: &WordMap, pairs: &mut Pairs, chosen: &mut Vec<u64>, budget: &mut u32) -> bool {
    let Some(own) = map.of_threads.get(chosen.len()).copied() else { return true };
    let words = 1u64 << map.of_words.len().min(16);
    // No change of word first, since it needs no select; then single bits; then all others.
    let singles = (0..map.of_words.len()).map(|bit| 1u64 << bit);
    let others = (1..words).filter(|word| !word.is_power_of_two());
    for word in std::iter::once(0).chain(singles).chain(others) {
        if *budget == 0 {
            return false;
        }
        *budget -= 1;
        let mut extended = pairs.clone();
        if !extended.insert(own.plus(map.of_word(word))) {
            continue;
        }
        chosen.push(word);
        if search(map, &mut extended, chosen, budget) {
            return true;
        }
        chosen.pop();
    }
    false
}

fn build(conversion: &Conversion, words: Words, map: &WordMap, dst_columns: &[u64]) -> Exchanges {
    let asked: Vec<Position> =
        map.of_threads.iter().zip(dst_columns).map(|(own, &word)| own.plus(map.of_word(word))).collect();
    let source_thread: Vec<u64> = asked.iter().map(|p| p.thread).collect();
    let src_columns = offers(&asked, &source_thread);
    let identity = source_thread.iter().enumerate().all(|(bit, &thread)| thread == 1 << bit);
    let rounds = (0..1u64 << map.of_words.len()).map(|dst| {
        let source = map.of_word(dst);
        // What a thread offers is counted from thread 0, so the source thread's share comes off.
        let src = source.register ^ multiply(&src_columns, source.thread);
        Round { src, thread: source.thread, stays: identity && source.thread == 0 }
    });
    let rounds: Vec<Round> = rounds.collect();
    Exchanges {
        element: conversion.element,
        lane_bits: conversion.lane_bits,
        offered: steps(&swaps(&src_columns), rounds.iter().map(|round| round.src).collect()),
        taken: steps(&swaps(dst_columns), (0..rounds.len() as u64).collect()),
        rounds,
        source_thread,
        words,
    }
}

/// The swaps as steps after which the given words are right: each step makes what the next ones need.
fn steps(swaps: &[Swap], wanted: Vec<u64>) -> Vec<Step> {
    let mut words: BTreeSet<u64> = wanted.into_iter().collect();
    let mut steps = Vec::new();
    for &swap in swaps.iter().rev() {
        steps.push(Step { swap, words: words.iter().copied().collect() });
        words.extend(words.clone().iter().map(|word| word ^ swap.word_bits));
    }
    steps.reverse();
    steps
}

/// The columns of `Q`: for each thread bit the word that an offering thread adds to the round's.
fn offers(asked: &[Position], source_thread: &[u64]) -> Vec<u64> {
    let units: Vec<u64> = (0..asked.len()).map(|bit| 1 << bit).collect();
    let all: Vec<u64> = source_thread.iter().chain(&units).copied().collect();
    let solver = Solver::new(&all);
    let word = |unit: &u64| {
        // Threads that nobody asks offer anything: they count as the units that complete the span.
        let combination = solver.solve(*unit).unwrap_or(0);
        let asking = asked.iter().enumerate().filter(|(bit, _)| combination >> bit & 1 == 1);
        asking.fold(0, |sum, (_, p)| sum ^ p.register)
    };
    units.iter().map(word).collect()
}

/// The swaps that turn word `k` into word `k ^ M t`, one for each dimension of the image of `M`.
fn swaps(columns: &[u64]) -> Vec<Swap> {
    let mut swaps: Vec<Swap> = Vec::new();
    for (bit, &column) in columns.iter().enumerate() {
        let mut rest = column;
        for swap in &mut swaps {
            if rest & (swap.word_bits & swap.word_bits.wrapping_neg()) != 0 {
                rest ^= swap.word_bits;
                swap.thread_mask |= 1 << bit;
            }
        }
        if rest != 0 {
            swaps.push(Swap { word_bits: rest, thread_mask: 1 << bit });
        }
    }
    swaps
}

impl Exchanges {
    /// Words that an element, or a group of packed ones, takes.
    fn parts(&self) -> u64 {
        u64::from(self.element.bits().div_ceil(WORD_BITS))
    }

    fn counts(&self) -> Counts {
        let moving = self.rounds.iter().filter(|round| !round.stays).count() as u64;
        let selects: usize = self.offered.iter().chain(&self.taken).map(|step| step.words.len()).sum();
        Counts { exchanges: moving * self.parts(), selects: selects as u64 * self.parts(), ..Counts::default() }
    }

    fn why_above(&self, bound: u64) -> String {
        let packed = 1u32 << self.words.src_inner.len();
        let fits = (WORD_BITS / self.element.bits()).max(1);
        if packed < fits {
            return format!(
                "only {packed} of {fits} elements that fit a word stay together in both layouts; {bound} exchanges \
                 would carry full words"
            );
        }
        format!("some lanes exchange in every round what they hold already; the neediest lacks {bound} words")
    }

    pub(super) fn emit(&self, builder: &mut Builder, registers: &[Value]) -> Vec<Value> {
        let thread = Thread::new(builder, self.lane_bits);
        let mut words = self.pack(builder, registers);
        for step in &self.offered {
            words = swapped(builder, thread, &words, step);
        }
        let lane_columns = self.lane_columns();
        let lanes = thread.product(builder, &lane_columns);
        let mut received: Vec<Vec<Value>> = Vec::with_capacity(self.rounds.len());
        for round in &self.rounds {
            let offered = words[round.src as usize].clone();
            received.push(if round.stays {
                offered
            } else {
                let lane = self.lane_of_round(builder, lanes, round);
                offered.into_iter().map(|part| builder.exchange(part, lane)).collect()
            });
        }
        for step in &self.taken {
            received = swapped(builder, thread, &received, step);
        }
        self.unpack(builder, &received)
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
        builder.binary_const(crate::kernel::Binary::Xor, lanes, constant as u32)
    }

    /// Source registers as words: a list of 32-bit parts for each.
    fn pack(&self, builder: &mut Builder, registers: &[Value]) -> Vec<Vec<Value>> {
        let elements = 1u64 << self.words.src_inner.len();
        let word = |builder: &mut Builder, word: u64| {
            let group: Vec<Value> =
                (0..elements).map(|element| registers[self.words.src_register(word, element) as usize]).collect();
            self.to_parts(builder, &group)
        };
        (0..1u64 << self.words.src_outer.len()).map(|index| word(builder, index)).collect()
    }

    fn to_parts(&self, builder: &mut Builder, group: &[Value]) -> Vec<Value> {
        let packed = builder.pack(group);
        let bits = builder.type_of(packed).bits();
        let whole = builder.cast(Cast::Bits, packed, integer(bits));
        match bits {
            64 => {
                let halves = builder.cast(Cast::Bits, whole, Type::Vector(Element::I32, 2));
                (0..2).map(|half| builder.extract(halves, half)).collect()
            }
            _ => vec![builder.cast(Cast::ExtendU, whole, integer(WORD_BITS))],
        }
    }

    /// Words as destination registers.
    fn unpack(&self, builder: &mut Builder, words: &[Vec<Value>]) -> Vec<Value> {
        let groups: Vec<Vec<Value>> = words.iter().map(|parts| self.elements_of(builder, parts)).collect();
        let bits = self.words.dst_outer.len() + self.words.dst_inner.len() + self.words.dst_copies.len();
        let register = |register: u64| {
            let (word, element) = self.words.dst_word(register);
            groups[word as usize][element as usize]
        };
        (0..1u64 << bits).map(register).collect()
    }

    fn elements_of(&self, builder: &mut Builder, parts: &[Value]) -> Vec<Value> {
        let count = 1u32 << self.words.dst_inner.len();
        if let [low, high] = parts {
            let both = builder.pack(&[*low, *high]);
            return vec![builder.cast(Cast::Bits, both, integer(64))];
        }
        let used = integer(self.element.bits() * count);
        let word = builder.cast(Cast::Truncate, parts[0], used);
        let elements = builder.cast(Cast::Bits, word, Type::of(self.element, count));
        (0..count).map(|index| builder.extract(elements, index)).collect()
    }
}

/// The words after a step; those that it does not make are left as they were.
fn swapped(builder: &mut Builder, thread: Thread, words: &[Vec<Value>], step: &Step) -> Vec<Vec<Value>> {
    let condition = thread.parity(builder, step.swap.thread_mask);
    let mut after = words.to_vec();
    for &word in &step.words {
        let other = &words[(word ^ step.swap.word_bits) as usize];
        let parts = words[word as usize].iter().zip(other);
        after[word as usize] = parts.map(|(&own, &other)| builder.select(condition, other, own)).collect();
    }
    after
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn swaps_add_up_to_the_matrix() {
        let columns = [0b011, 0b110, 0b101, 0b000, 0b100];
        let swaps = swaps(&columns);
        for thread in 0..1u64 << columns.len() {
            let odd = |swap: &&Swap| (swap.thread_mask & thread).count_ones() % 2 == 1;
            let sum = swaps.iter().filter(odd).fold(0, |sum, swap| sum ^ swap.word_bits);
            assert_eq!(sum, multiply(&columns, thread), "thread {thread:#b}");
        }
    }
}
