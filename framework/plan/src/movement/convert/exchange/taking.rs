//! Rounds for a given `P`: what is offered, what is taken, and the selects that both need.

use smallvec::SmallVec;

use super::super::super::Conversion;
use super::super::super::conversion::Position;
use super::super::super::price::slots;
use super::joins::joins;
use super::moves::Moves;
use super::rounds::offers;
use super::selects::{Selects, Word, by_parities};
use super::words::{WordMap, Words};
use super::{Exchanges, Round, WORD_BITS};
use tilewright_layout::f2::multiply;
use tilewright_target::LaneXors;

/// What is exchanged, in words.
pub(super) struct Question<'a> {
    pub(super) conversion: &'a Conversion,
    pub(super) words: &'a Words,
    pub(super) map: &'a WordMap,
    /// What happens to the words before the rounds.
    pub(super) moves: &'a Moves,
    /// Numbers by which lanes that exchange may differ.
    pub(super) xors: LaneXors,
}

/// What is taken from where: the columns of `P`, of `Q`, and of the source thread.
struct Taking {
    dst_columns: Vec<u64>,
    src_columns: Vec<u64>,
    source_thread: Vec<u64>,
    /// For each round the source word that thread 0 offers, and the source thread of thread 0; `None`
    /// where every thread would read from itself.
    rounds: Vec<(u64, Option<u64>)>,
}

impl Question<'_> {
    /// The best of the ways with the given `P`: parities in either order, and what stays in its thread
    /// selected on its own or along with what comes. `None` where each takes `most` slots or more.
    pub(super) fn best(&self, dst_columns: &[u64], most: f64) -> Option<Exchanges> {
        let taking = Taking::new(self.map, dst_columns);
        let parts = u64::from(self.conversion.element.bits().div_ceil(WORD_BITS));
        let moving = taking.rounds.iter().filter(|(_, thread)| thread.is_some()).count() as u64;
        let before = slots(&self.moves.counts(self.words.count(), parts));
        let mut best = None;
        let mut least = most;
        let parities = by_parities(&taking.dst_columns, &taking.src_columns, false).0.len();
        let variants = [(false, false), (false, true), (true, false), (true, true)];
        for (reversed, apart) in variants.into_iter().take(if parities > 1 { 4 } else { 1 }) {
            // A way is better only with fewer selects than this.
            let selects = ((least - before - (moving * parts) as f64) * 4.0).ceil();
            if selects < 0.0 {
                break;
            }
            if let Some((rounds, selects, taken)) = taking.selected(reversed, apart, selects as usize) {
                let joined = joins(self.conversion.element, self.words, &rounds, &selects, &taken);
                let all = selects.selects.len() as u64;
                let (joins, needed) = joined.map_or((None, all), |(joins, needed)| (Some(joins), needed));
                let found = Exchanges {
                    element: self.conversion.element,
                    lane_bits: self.conversion.lane_bits,
                    words: self.words.clone(),
                    moves: self.moves.clone(),
                    rounds,
                    selects,
                    taken,
                    joins,
                    needed,
                    taken_columns: taking.dst_columns.clone(),
                    source_thread: taking.source_thread.clone(),
                    xors: self.xors,
                };
                least = slots(&found.counts());
                best = Some(found);
            }
        }
        best
    }
}

impl Taking {
    fn new(map: &WordMap, dst_columns: &[u64]) -> Self {
        let requested = map.of_threads.iter().zip(dst_columns).map(|(own, &word)| own.plus(map.of_word(word)));
        let requested: Vec<Position> = requested.collect();
        let source_thread: Vec<u64> = requested.iter().map(|p| p.thread).collect();
        let src_columns = offers(&requested, &source_thread);
        let identity = source_thread.iter().enumerate().all(|(bit, &thread)| thread == 1 << bit);
        let rounds = (0..1u64 << map.of_words.len()).map(|dst| {
            let source = map.of_word(dst);
            // What a thread offers is counted from thread 0, so the source thread's share comes off.
            let src = source.register ^ multiply(&src_columns, source.thread);
            (src, (!identity || source.thread != 0).then_some(source.thread))
        });
        let rounds = rounds.collect();
        Self { dst_columns: dst_columns.to_vec(), src_columns, source_thread, rounds }
    }

    /// The rounds, the selects, and the words of the destination. What stays is selected `apart`, or
    /// along with what is received. `None` with `most` selects or more.
    fn selected(&self, reversed: bool, apart: bool, most: usize) -> Option<(Vec<Round>, Selects, Vec<Word>)> {
        let (parities, taken, offered) = by_parities(&self.dst_columns, &self.src_columns, reversed);
        let mut selects = Selects::new(parities, self.rounds.len());
        let combinations = selects.combinations();
        let mut rounds = Vec::with_capacity(self.rounds.len());
        let mut staying = vec![None; self.rounds.len()];
        let mut table: SmallVec<[Word; 32]> = SmallVec::new();
        for (&(src, thread), stays) in self.rounds.iter().zip(&mut staying) {
            let mut value = None;
            if thread.is_some() || apart {
                table.clear();
                table.extend((0..combinations).map(|parity| Word::Source((src ^ offered.word(parity)) as u32)));
                value = Some(selects.value(&table));
            }
            if thread.is_none() {
                *stays = value;
            }
            rounds.push(Round { offered: value.filter(|_| thread.is_some()), thread: thread.unwrap_or(0) });
        }
        let from = |dst: u64, parity: usize| {
            let round = (dst ^ taken.word(parity)) as usize;
            match (self.rounds[round], staying[round]) {
                ((_, Some(_)), _) => Word::Received(round as u32),
                (_, Some(selected)) => selected,
                ((src, None), None) => Word::Source((src ^ offered.word(parity)) as u32),
            }
        };
        let mut words = Vec::with_capacity(rounds.len());
        for dst in 0..rounds.len() as u64 {
            table.clear();
            table.extend((0..combinations).map(|parity| from(dst, parity)));
            words.push(selects.value(&table));
            if selects.selects.len() >= most {
                return None;
            }
        }
        Some((rounds, selects, words))
    }
}
