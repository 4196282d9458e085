//! Plans the rounds of a shuffle plan for a given `P` (the map from threads to words): the words that threads offer and
//! take, and the selects for both.

use smallvec::SmallVec;

use super::super::super::ConversionProblem;
use super::super::super::conversion::Position;
use super::super::super::price::occupied_cycles;
use super::byte_merges::byte_merges;
use super::moves::Moves;
use super::rounds::offers;
use super::selects::{Selects, Word, by_parities};
use super::words::{WordMap, Words};
use super::{Round, ShufflePlan, WORD_BITS};
use tilewright_kernel::Counts;
use tilewright_layout::f2::multiply_vector;
use tilewright_target::{ShuffleXorMasks, TargetDescription};

/// The input of the search for rounds of shuffles, with registers grouped into words.
pub(super) struct ShuffleProblem<'a> {
    pub(super) conversion: &'a ConversionProblem,
    pub(super) words: &'a Words,
    pub(super) map: &'a WordMap,
    /// The moves (transpositions of position bits) before the rounds of shuffles.
    pub(super) moves: &'a Moves,
    /// The constant lane xors by which the target can shuffle.
    pub(super) xors: ShuffleXorMasks,
    pub(super) target: &'a TargetDescription,
}

/// The rounds that follow from a choice of `P` (the linear map from threads to the words that they take): the columns
/// of `P`, of `Q` (the map from threads to the words that they offer), and of the map from a thread to the thread from
/// which it reads.
struct RoundSources {
    dst_columns: Vec<u64>,
    src_columns: Vec<u64>,
    source_thread: Vec<u64>,
    /// For each round of shuffles, the source word that thread 0 offers, and the source thread of thread 0; the thread
    /// is `None` if every thread would read from itself.
    rounds: Vec<(u64, Option<u64>)>,
}

impl ShuffleProblem<'_> {
    /// Returns the shuffle plan of the fewest cycles for the given columns of `P` (the map from threads to the words
    /// that they take); `None` if it takes `most` cycles or more. It is the best of four variants: parities in either
    /// order, and words that stay in their thread selected separately or together with received words.
    pub(super) fn best(&self, dst_columns: &[u64], most: f64) -> Option<ShufflePlan> {
        let schedule = RoundSources::new(self.map, dst_columns);
        let words_per_element = u64::from(self.conversion.element.bits().div_ceil(WORD_BITS));
        let moving = schedule.rounds.iter().filter(|(_, thread)| thread.is_some()).count() as u64;
        let warps = self.conversion.warps();
        let occupied = |counts: &Counts| occupied_cycles(counts, warps, self.target);
        let before = self.moves.counts(self.words.count(), words_per_element);
        let shuffles = moving * words_per_element;
        let shuffled =
            |shuffles_xor| occupied(&before.add_counts(Counts { shuffles, shuffles_xor, ..Counts::default() }));
        let least = shuffled(0).min(shuffled(shuffles));
        let of_select = occupied(&Counts { selects: words_per_element, ..Counts::default() });
        let mut best = None;
        let mut lowest = most;
        let parities = by_parities(&schedule.dst_columns, &schedule.src_columns, false).0.len();
        let variants = [(false, false), (false, true), (true, false), (true, true)];
        for (reversed, separately) in variants.into_iter().take(if parities > 1 { 4 } else { 1 }) {
            // A variant is cheaper only with fewer selects than this.
            let selects = ((lowest - least) / of_select.max(f64::MIN_POSITIVE)).ceil();
            if selects < 0.0 {
                break;
            }
            if let Some((rounds, selects, taken)) = schedule.selected(reversed, separately, selects as usize) {
                let joined = byte_merges(self.conversion.element, self.words, &rounds, &selects, &taken);
                let all = selects.selects.len() as u64;
                let (byte_merges, needed) =
                    joined.map_or((None, all), |(byte_merges, needed)| (Some(byte_merges), needed));
                let found = ShufflePlan {
                    element: self.conversion.element,
                    lane_bits: self.conversion.lane_bits,
                    words: self.words.clone(),
                    moves: self.moves.clone(),
                    rounds,
                    selects,
                    taken,
                    byte_merges,
                    needed,
                    taken_columns: schedule.dst_columns.clone(),
                    source_thread: schedule.source_thread.clone(),
                    xors: self.xors,
                };
                let cycles = found.cycles(warps, self.target);
                if cycles < lowest {
                    lowest = cycles;
                    best = Some(found);
                }
            }
        }
        best
    }
}

impl RoundSources {
    fn new(map: &WordMap, dst_columns: &[u64]) -> Self {
        let requested = map.of_threads.iter().zip(dst_columns).map(|(own, &word)| own.plus(map.of_word(word)));
        let requested: Vec<Position> = requested.collect();
        let source_thread: Vec<u64> = requested.iter().map(|p| p.thread).collect();
        let src_columns = offers(&requested, &source_thread);
        let identity = source_thread.iter().enumerate().all(|(bit, &thread)| thread == 1 << bit);
        let rounds = (0..1u64 << map.of_words.len()).map(|dst| {
            let source = map.of_word(dst);
            // The word that a thread offers is counted relative to thread 0, so the contribution of the source thread
            // is removed.
            let src = source.register ^ multiply_vector(&src_columns, source.thread);
            (src, (!identity || source.thread != 0).then_some(source.thread))
        });
        let rounds = rounds.collect();
        Self { dst_columns: dst_columns.to_vec(), src_columns, source_thread, rounds }
    }

    /// Returns the rounds, the selects, and the words of the destination. If `separately`, words that stay in their
    /// thread are selected separately, otherwise together with received words. `None` if `most` or more selects are
    /// needed.
    fn selected(&self, reversed: bool, separately: bool, most: usize) -> Option<(Vec<Round>, Selects, Vec<Word>)> {
        let (parities, taken, offered) = by_parities(&self.dst_columns, &self.src_columns, reversed);
        let mut selects = Selects::new(parities, self.rounds.len());
        let combinations = selects.combinations();
        let mut rounds = Vec::with_capacity(self.rounds.len());
        let mut staying = vec![None; self.rounds.len()];
        let mut table: SmallVec<[Word; 32]> = SmallVec::new();
        for (&(src, thread), stays) in self.rounds.iter().zip(&mut staying) {
            let mut value = None;
            if thread.is_some() || separately {
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
