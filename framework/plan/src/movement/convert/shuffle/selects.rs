//! Values that differ from thread to thread, as selects with shared subexpressions.
//!
//! The value of a thread depends only on some parities of its thread index, so it is a table over these parities.
//! Tables are folded from the last parity to the first; equal halves cost nothing, and equal tables are folded once (a
//! reduced ordered binary decision diagram).

use rustc_hash::{FxBuildHasher, FxHashMap};
use smallvec::SmallVec;

use tilewright_layout::f2::Solver;

/// A 32-bit word that a thread holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Word {
    /// The source word with this index.
    Source(u32),
    /// The word received in the round with this index.
    Received(u32),
    /// The result of the select with this index.
    Selected(u32),
}

/// One select: the word `odd` in threads of odd parity, `even` in the other threads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Select {
    pub(super) parity: u32,
    pub(super) odd: Word,
    pub(super) even: Word,
}

/// Selects under construction, and the parities of the thread index that are their conditions.
#[derive(Debug, Clone, Default)]
pub(super) struct Selects {
    /// For each parity, the mask of the thread-index bits whose parity it is.
    pub(super) parities: Vec<u64>,
    pub(super) selects: Vec<Select>,
    known: FxHashMap<Select, u32>,
}

/// A linear map from threads to word indices, as a function of parities of the thread index.
#[derive(Debug, Clone)]
pub(super) struct ByParity {
    /// For each parity, the bits of the word index that it flips if it is odd.
    added: SmallVec<[u64; 8]>,
}

impl ByParity {
    /// Returns the word index of the threads whose parities are the bits of `parities`.
    pub(super) fn word(&self, parities: usize) -> u64 {
        tilewright_layout::f2::multiply_vector(&self.added, parities as u64)
    }
}

/// Decomposes two linear maps from threads to word indices, `taken` and `offered`, into functions of common parities of
/// the thread index. Each map is given as the word-index bits that each thread bit adds. Returns, for each parity, the
/// mask of its thread bits, and both maps as functions of the parities. `reversed` reverses the order of the parities.
pub(super) fn by_parities(taken: &[u64], offered: &[u64], reversed: bool) -> (Vec<u64>, ByParity, ByParity) {
    let (taken, offered) = (swaps(taken), swaps(offered));
    let mut masks: Vec<u64> = Vec::new();
    for swap in taken.iter().chain(&offered) {
        let mut all = masks.clone();
        all.push(swap.thread_mask);
        if Solver::new(&all).free_columns() == 0 {
            masks = all;
        }
    }
    if reversed {
        masks.reverse();
    }
    let solver = Solver::new(&masks);
    let of = |swaps: &[Swap]| {
        let mut added: SmallVec<[u64; 8]> = SmallVec::from_elem(0, masks.len());
        for swap in swaps {
            let combination = solver.solve(swap.thread_mask).unwrap_or(0);
            for (bit, word) in added.iter_mut().enumerate() {
                if combination >> bit & 1 == 1 {
                    *word ^= swap.word_bits;
                }
            }
        }
        ByParity { added }
    };
    let (taken, offered) = (of(&taken), of(&offered));
    (masks, taken, offered)
}

/// A swap of pairs of words: in threads with an odd parity of `thread_mask`, words whose indices differ by `word_bits`
/// change places.
#[derive(Debug, Clone, Copy)]
struct Swap {
    word_bits: u64,
    thread_mask: u64,
}

/// Returns the swaps that turn word `k` into word `k ^ M t` in thread `t`, one for each dimension of the image of `M`.
/// `columns` are the columns of `M`.
fn swaps(columns: &[u64]) -> SmallVec<[Swap; 8]> {
    let mut swaps: SmallVec<[Swap; 8]> = SmallVec::new();
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

impl Selects {
    /// Makes an empty list of selects, with capacity for two selects for each of `words` words.
    pub(super) fn new(parities: Vec<u64>, words: usize) -> Self {
        let room = if parities.is_empty() { 0 } else { 2 * words };
        let known = FxHashMap::with_capacity_and_hasher(room, FxBuildHasher);
        Self { parities, selects: Vec::with_capacity(room), known }
    }

    /// Returns the number of combinations of parities, which is the length of a table of [`Self::value`].
    pub(super) fn combinations(&self) -> usize {
        1 << self.parities.len()
    }

    /// Returns the select whose result `word` is; `None` if `word` is a word of the source or a received word.
    pub(super) fn select(&self, word: Word) -> Option<Select> {
        let Word::Selected(index) = word else { return None };
        self.selects.get(index as usize).copied()
    }

    /// Returns the number of selects on which the given words depend, directly or through other selects.
    pub(super) fn needed(&self, words: impl Iterator<Item = Word>) -> u64 {
        let mut needed = vec![false; self.selects.len()];
        let mut left: Vec<Word> = words.collect();
        while let Some(word) = left.pop() {
            if let (Word::Selected(index), Some(select)) = (word, self.select(word))
                && !std::mem::replace(&mut needed[index as usize], true)
            {
                left.extend([select.odd, select.even]);
            }
        }
        needed.into_iter().filter(|&needed| needed).count() as u64
    }

    /// Returns the word that is `table[p]` in threads whose parities are the bits of `p`; adds the selects that it
    /// needs.
    pub(super) fn value(&mut self, table: &[Word]) -> Word {
        let (even, odd) = match table {
            [single] => return *single,
            _ => table.split_at(table.len() / 2),
        };
        let parity = even.len().trailing_zeros();
        let (even, odd) = (self.value(even), self.value(odd));
        if even == odd {
            return even;
        }
        let select = Select { parity, odd, even };
        let next = self.selects.len() as u32;
        let index = *self.known.entry(select).or_insert(next);
        if index == next {
            self.selects.push(select);
        }
        Word::Selected(index)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tilewright_layout::f2::multiply_vector;

    /// Evaluates a word in a thread; source words and received words evaluate to themselves.
    fn evaluate(selects: &Selects, word: Word, thread: u64) -> Word {
        let Word::Selected(index) = word else { return word };
        let select = selects.selects[index as usize];
        let odd = (selects.parities[select.parity as usize] & thread).count_ones() % 2 == 1;
        evaluate(selects, if odd { select.odd } else { select.even }, thread)
    }

    #[test]
    fn a_word_chosen_by_a_linear_map_is_that_word_in_every_thread() {
        let (taken, offered) = ([0b011, 0b110, 0b101, 0b000, 0b100], [0, 0b01, 0b11, 0, 0b10]);
        for reversed in [false, true] {
            let (parities, of_taken, of_offered) = by_parities(&taken, &offered, reversed);
            for (columns, map) in [(&taken, of_taken), (&offered, of_offered)] {
                let mut selects = Selects::new(parities.clone(), 1);
                let table: Vec<_> = (0..selects.combinations()).map(|p| Word::Source(map.word(p) as u32)).collect();
                let word = selects.value(&table);
                for thread in 0..1u64 << columns.len() {
                    let expected = Word::Source(multiply_vector(columns, thread) as u32);
                    assert_eq!(evaluate(&selects, word, thread), expected, "thread {thread:#b}");
                }
            }
        }
    }

    #[test]
    fn equal_selects_are_shared() {
        let mut selects = Selects::new(vec![1], 1);
        let table = [Word::Source(0), Word::Received(1)];
        assert_eq!(selects.value(&table), selects.value(&table));
        assert_eq!(selects.value(&[Word::Source(3), Word::Source(3)]), Word::Source(3));
        assert_eq!(selects.selects.len(), 1);
    }
}
