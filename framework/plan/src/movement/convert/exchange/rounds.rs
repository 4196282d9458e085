//! Which word a thread takes in, and which it offers, in each round.

use smallvec::SmallVec;

use tilewright_layout::f2::Solver;

use super::super::super::conversion::Position;
use super::selects::Word;
use super::words::WordMap;

/// What happens in one round.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Round {
    /// What a thread offers; `None` where every thread would read from itself.
    pub(super) offered: Option<Word>,
    /// Source thread for thread 0.
    pub(crate) thread: u64,
}

impl Round {
    /// Whether every thread would read from itself.
    pub(crate) fn stays(&self) -> bool {
        self.offered.is_none()
    }
}

/// The columns of `P`: for each thread bit the word that it adds to the round's. Every combination
/// of thread bits that reads from thread 0 must read word 0.
///
/// Thread bits that need no change of word come first; for each of the others one word bit is found
/// whose source thread is not among those that are asked already. Where neither side has copies that
/// always succeeds: of two spaces of equal dimension (the words, and what reads from thread 0) there
/// is a common complement, which this is. With copies it may not; then some combinations are tried.
pub(super) fn choose_destinations(map: &WordMap) -> Option<Vec<u64>> {
    let mut pairs = Pairs::default();
    let mut chosen: Vec<Option<u64>> = map.of_threads.iter().map(|&own| pairs.insert(own).then_some(0)).collect();
    for (bit, &own) in map.of_threads.iter().enumerate() {
        if chosen[bit].is_none() {
            let mut singles = map.of_words.iter().enumerate();
            let found = singles.find(|(_, word)| pairs.insert(own.plus(**word)));
            chosen[bit] = found.map(|(word, _)| 1 << word);
        }
    }
    let greedy: Option<Vec<u64>> = chosen.into_iter().collect();
    greedy.or_else(|| {
        let (mut chosen, mut budget) = (Vec::new(), MOST_TRIED);
        search(map, &Pairs::default(), &mut chosen, &mut budget).then_some(chosen)
    })
}

/// How many words are tried before the search is given up.
const MOST_TRIED: u32 = 2000;

/// The columns of a `P` with which every thread reads from itself in the rounds of words that all
/// threads hold already; the other rounds are no more than the words that are missing. `None` where
/// some thread holds none of what it wants.
pub(super) fn stay_at_home(map: &WordMap) -> Option<Vec<u64>> {
    let threads: Vec<u64> = map.of_words.iter().map(|p| p.thread).collect();
    let solver = Solver::new(&threads);
    let own = map.of_threads.iter().enumerate();
    own.map(|(bit, p)| solver.solve(p.thread ^ 1 << bit)).collect()
}

/// A span of (source thread, source word) pairs in which a zero thread always has a zero word.
#[derive(Clone, Default)]
struct Pairs {
    pivots: SmallVec<[Position; 12]>,
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

fn search(map: &WordMap, pairs: &Pairs, chosen: &mut Vec<u64>, budget: &mut u32) -> bool {
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
        if search(map, &extended, chosen, budget) {
            return true;
        }
        chosen.pop();
    }
    false
}

/// The columns of `Q`: for each thread bit the word that an offering thread adds to the round's.
pub(super) fn offers(requested: &[Position], source_thread: &[u64]) -> Vec<u64> {
    let units: Vec<u64> = (0..requested.len()).map(|bit| 1 << bit).collect();
    let all: Vec<u64> = source_thread.iter().chain(&units).copied().collect();
    let solver = Solver::new(&all);
    let word = |unit: &u64| {
        // Threads that nobody asks offer anything: they count as the units that complete the span.
        let combination = solver.solve(*unit).unwrap_or(0);
        let asking = requested.iter().enumerate().filter(|(bit, _)| combination >> bit & 1 == 1);
        asking.fold(0, |sum, (_, p)| sum ^ p.register)
    };
    units.iter().map(word).collect()
}
