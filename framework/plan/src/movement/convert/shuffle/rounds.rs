//! The words that a thread takes and offers in each round.

use smallvec::SmallVec;

use tilewright_layout::f2::Solver;

use super::super::super::conversion::Position;
use super::selects::Word;
use super::words::WordMap;

/// One round of shuffles: every thread receives one word from a thread of its warp.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Round {
    /// The word that every thread offers; `None` if every thread would read from itself.
    pub(super) offered: Option<Word>,
    /// The thread from which thread 0 receives its word.
    pub(crate) thread: u64,
}

impl Round {
    /// Whether every thread would read from itself in this round, so that no shuffle is needed.
    pub(crate) fn stays(&self) -> bool {
        self.offered.is_none()
    }
}

/// Finds the columns of `P`: for each bit of the thread index, the word index that it adds (over F2) to the index of
/// the round, to give the destination word that the thread takes. Every combination of thread bits whose source is
/// thread 0 must read word 0. `None` if no columns are found.
///
/// Thread bits that need no change of word come first. For each of the others one word bit is found whose source thread
/// is not yet among the sources. Without replicas on either side this always succeeds: two spaces of equal dimension
/// (the words, and the threads that read from thread 0) have a common complement. With replicas it may fail; then some
/// combinations are tried.
pub(super) fn choose_destinations(map: &WordMap) -> Option<Vec<u64>> {
    let mut pairs = Pairs::default();
    let mut chosen: Vec<Option<u64>> =
        map.of_threads.iter().map(|&position| pairs.insert(position).then_some(0)).collect();
    for (bit, &position) in map.of_threads.iter().enumerate() {
        if chosen[bit].is_none() {
            let mut singles = map.of_words.iter().enumerate();
            let found = singles.find(|(_, word)| pairs.insert(position.plus(**word)));
            chosen[bit] = found.map(|(word, _)| 1 << word);
        }
    }
    let greedy: Option<Vec<u64>> = chosen.into_iter().collect();
    greedy.or_else(|| {
        let (mut chosen, mut budget) = (Vec::new(), MOST_TRIED);
        search(map, &Pairs::default(), &mut chosen, &mut budget).then_some(chosen)
    })
}

/// Max number of choices of a word for a thread bit that the search tries.
const MOST_TRIED: u32 = 2000;

/// Returns the columns of a map `P` (from threads to the words that they take) for which every thread reads from itself
/// in the rounds of words that all threads already have. The number of other rounds is then at most the number of
/// missing words. `None` if some thread has none of the words that it needs.
pub(super) fn keep_local_words(map: &WordMap) -> Option<Vec<u64>> {
    let threads: Vec<u64> = map.of_words.iter().map(|p| p.thread).collect();
    let solver = Solver::new(&threads);
    let position = map.of_threads.iter().enumerate();
    position.map(|(bit, p)| solver.solve(p.thread ^ 1 << bit)).collect()
}

/// A span over F2 of (source thread, source word) pairs that pairs thread 0 with word 0 only.
#[derive(Clone, Default)]
struct Pairs {
    pivots: SmallVec<[Position; 12]>,
}

impl Pairs {
    /// Adds a pair to the span; returns false if thread zero would then be paired with another word than zero.
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

fn search(map: &WordMap, pairs: &Pairs, chosen: &mut Vec<u64>, budget: &mut u32) -> bool {
    let Some(position) = map.of_threads.get(chosen.len()).copied() else { return true };
    let words = 1u64 << map.of_words.len().min(16);
    // Words are tried in this order: no change of word, which needs no select; single bits; all others.
    let singles = (0..map.of_words.len()).map(|bit| 1u64 << bit);
    let others = (1..words).filter(|word| !word.is_power_of_two());
    for word in std::iter::once(0).chain(singles).chain(others) {
        if *budget == 0 {
            return false;
        }
        *budget -= 1;
        let mut extended = pairs.clone();
        if !extended.insert(position.plus(map.of_word(word))) {
            continue;
        }
        chosen.push(word);
        if search(map, &extended, chosen, budget) {
            return true;
        }
        chosen.pop();
    }
    false
}

/// Returns the columns of `Q`: for each bit of the offering thread's index, the word index that it adds (over F2) to
/// the round's word, to give the word that the thread offers. `requested` has, for each bit of the receiving thread's
/// index, the source word and thread that it adds; `source_thread` has the threads of these.
pub(super) fn offers(requested: &[Position], source_thread: &[u64]) -> Vec<u64> {
    let units: Vec<u64> = (0..requested.len()).map(|bit| 1 << bit).collect();
    let all: Vec<u64> = source_thread.iter().chain(&units).copied().collect();
    let solver = Solver::new(&all);
    let word = |unit: &u64| {
        // A thread from which no thread reads may offer any word; the appended unit vectors make the equations solvable
        // for it.
        let combination = solver.solve(*unit).unwrap_or(0);
        let asking = requested.iter().enumerate().filter(|(bit, _)| combination >> bit & 1 == 1);
        asking.fold(0, |sum, (_, p)| sum ^ p.register)
    };
    units.iter().map(word).collect()
}
