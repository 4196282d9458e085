//! Conversions within warps, by exchanges between lanes.
//!
//! Round `j` hands out one word to every thread. Thread `t` takes in destination word `j ^ P t`,
//! for a linear `P` from threads to words chosen so that each source thread is asked for one word
//! only; that word is then a linear function `k ^ Q t'` of the round and the offering thread (seed
//! 000, section 5.4: `P` pairs its sets E and F). Which word a thread offers and where it puts what
//! it receives depends on the thread where `Q` and `P` are not zero: those are selects. In a round in
//! which every thread would read from itself nothing is exchanged.
//!
//! Words are 32 bits: narrow elements are packed where source and destination keep them together.
//! Elements of 64 bits are selected whole and exchanged by halves.

mod emit;
mod rounds;
mod selects;
mod words;

use crate::f2::multiply;
use crate::kernel::{Counts, Element};
use crate::target::TargetDescription;

use super::Conversion;
use super::bound;
use super::conversion::{Origin, Position};
use super::plan::{Path, Plan, Steps};
use super::price::{self, cost};
use rounds::{choose_destinations, offers, stay_at_home};
use selects::{Selects, Word, by_parities};
use words::{WordMap, Words};

const WORD_BITS: u32 = 32;

/// How the exchanges go.
#[derive(Debug, Clone)]
pub(super) struct Exchanges {
    element: Element,
    lane_bits: u32,
    words: Words,
    rounds: Vec<Round>,
    selects: Selects,
    /// The words of the destination.
    taken: Vec<Word>,
    /// Columns of the source thread, one for each thread bit.
    source_thread: Vec<u64>,
}

#[derive(Debug, Clone, Copy)]
struct Round {
    /// What a thread offers; `None` where every thread would read from itself.
    offered: Option<Word>,
    /// Source thread for thread 0.
    thread: u64,
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
    let few_exchanges = stay_at_home(&map).filter(|columns| Some(columns) != few_selects.as_ref());
    let ways = few_selects.iter().chain(&few_exchanges);
    let plans = ways.flat_map(|columns| build(conversion, &words, &map, columns));
    let plans = plans.map(|exchanges| priced(conversion, exchanges, exchange_bits, target));
    let cheapest = plans.min_by(price::order);
    cheapest.ok_or_else(|| "threads ask one thread for several words in any order".to_owned())
}

fn priced(conversion: &Conversion, exchanges: Exchanges, exchange_bits: u32, target: &TargetDescription) -> Plan {
    let counts = exchanges.counts();
    let bound = bound::of_exchanges(conversion, exchange_bits);
    let above = counts.exchanges > bound.exchanges;
    // The table's selects are of 32 bits.
    let issued = Counts { selects: counts.selects * exchanges.parts(), ..counts };
    Plan {
        path: if counts.exchanges == 0 { Path::Register } else { Path::Shuffle },
        counts,
        shared_bytes: 0,
        cost: cost(&issued, conversion.warps(), 1, target),
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

/// The ways to exchange with the given `P`: parities in either order, and what stays in its thread
/// selected on its own or along with what comes.
fn build(conversion: &Conversion, words: &Words, map: &WordMap, dst_columns: &[u64]) -> Vec<Exchanges> {
    let asked: Vec<Position> =
        map.of_threads.iter().zip(dst_columns).map(|(own, &word)| own.plus(map.of_word(word))).collect();
    let source_thread: Vec<u64> = asked.iter().map(|p| p.thread).collect();
    let src_columns = offers(&asked, &source_thread);
    let several = by_parities(dst_columns, &src_columns, false).0.len() > 1;
    let variants: &[(bool, bool)] =
        if several { &[(false, false), (false, true), (true, false), (true, true)] } else { &[(false, false)] };
    let way = |&(reversed, apart): &(bool, bool)| {
        let taking = Taking { map, source_thread: &source_thread, src_columns: &src_columns, dst_columns };
        let (rounds, selects, taken) = taking.selected(reversed, apart);
        Exchanges {
            element: conversion.element,
            lane_bits: conversion.lane_bits,
            words: words.clone(),
            rounds,
            selects,
            taken,
            source_thread: source_thread.clone(),
        }
    };
    variants.iter().map(way).collect()
}

/// What is taken from where.
struct Taking<'a> {
    map: &'a WordMap,
    source_thread: &'a [u64],
    src_columns: &'a [u64],
    dst_columns: &'a [u64],
}

impl Taking<'_> {
    /// The rounds, the selects, and the words of the destination. What stays is selected `apart`, or
    /// along with what is received.
    fn selected(&self, reversed: bool, apart: bool) -> (Vec<Round>, Selects, Vec<Word>) {
        let (parities, taken, offered) = by_parities(self.dst_columns, self.src_columns, reversed);
        let mut selects = Selects::new(parities);
        let combinations = selects.combinations();
        let identity = self.source_thread.iter().enumerate().all(|(bit, &thread)| thread == 1 << bit);
        let mut rounds = Vec::with_capacity(1 << self.map.of_words.len());
        // What a thread offers in each round, as a word of the source.
        let mut first: Vec<u64> = Vec::with_capacity(rounds.capacity());
        let mut stays: Vec<Option<Word>> = Vec::with_capacity(rounds.capacity());
        for dst in 0..1u64 << self.map.of_words.len() {
            let source = self.map.of_word(dst);
            // What a thread offers is counted from thread 0, so the source thread's share comes off.
            let src = source.register ^ multiply(self.src_columns, source.thread);
            let here = identity && source.thread == 0;
            let table = |_: ()| -> Vec<Word> {
                (0..combinations).map(|p| Word::Source((src ^ offered.word(p)) as u32)).collect()
            };
            let value = (!here || apart).then(|| selects.value(&table(())));
            rounds.push(Round { offered: value.filter(|_| !here), thread: source.thread });
            stays.push(value.filter(|_| here));
            first.push(src);
        }
        let from = |dst: u64, parity: usize| {
            let round = dst ^ taken.word(parity);
            let staying = || Word::Source((first[round as usize] ^ offered.word(parity)) as u32);
            match rounds[round as usize].offered {
                Some(_) => Word::Received(round as u32),
                None => stays[round as usize].unwrap_or_else(staying),
            }
        };
        let mut words = Vec::with_capacity(rounds.len());
        for dst in 0..rounds.len() as u64 {
            let table: Vec<Word> = (0..combinations).map(|parity| from(dst, parity)).collect();
            words.push(selects.value(&table));
        }
        (rounds, selects, words)
    }
}

impl Exchanges {
    /// Exchanges that an element, or a group of packed ones, takes.
    fn parts(&self) -> u64 {
        u64::from(self.element.bits().div_ceil(WORD_BITS))
    }

    fn counts(&self) -> Counts {
        let moving = self.rounds.iter().filter(|round| round.offered.is_some()).count() as u64;
        Counts { exchanges: moving * self.parts(), selects: self.selects.selects.len() as u64, ..Counts::default() }
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
}
