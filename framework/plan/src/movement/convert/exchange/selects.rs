//! Values that differ from thread to thread, as selects that share what they can.
//!
//! A thread's choice depends on some parities of its index only. A value is then a table over those
//! parities; tables are folded from the last parity to the first, equal halves cost nothing, and
//! what was folded once is not folded again (a reduced ordered decision diagram).

use rustc_hash::{FxBuildHasher, FxHashMap};
use smallvec::SmallVec;

use tilewright_layout::f2::Solver;

/// A word of a thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Word {
    /// A word of the source.
    Source(u32),
    /// What a round brought.
    Received(u32),
    /// What a select gave, by its number.
    Selected(u32),
}

/// One select: `odd` in threads in which the parity is odd.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Select {
    pub(super) parity: u32,
    pub(super) odd: Word,
    pub(super) even: Word,
}

/// Selects under construction, and the parities by which they choose.
#[derive(Debug, Clone, Default)]
pub(super) struct Selects {
    /// Masks of thread bits.
    pub(super) parities: Vec<u64>,
    pub(super) selects: Vec<Select>,
    known: FxHashMap<Select, u32>,
}

/// A linear map from threads to words as a function of parities.
#[derive(Debug, Clone)]
pub(super) struct ByParity {
    /// What each parity adds to the word, where it is odd.
    added: SmallVec<[u64; 8]>,
}

impl ByParity {
    /// The word added in a thread with the given parities.
    pub(super) fn word(&self, parities: usize) -> u64 {
        tilewright_layout::f2::multiply(&self.added, parities as u64)
    }
}

/// Masks of thread bits on whose parities both maps (given by one word for each thread bit) depend
/// and the maps as functions of these. `reversed` gives the parities in the other order.
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
            let made_of = solver.solve(swap.thread_mask).unwrap_or(0);
            for (bit, word) in added.iter_mut().enumerate() {
                if made_of >> bit & 1 == 1 {
                    *word ^= swap.word_bits;
                }
            }
        }
        ByParity { added }
    };
    let (taken, offered) = (of(&taken), of(&offered));
    (masks, taken, offered)
}

/// Exchanges words that differ by `word_bits` in the threads where the parity of `thread_mask` is
/// odd.
#[derive(Debug, Clone, Copy)]
struct Swap {
    word_bits: u64,
    thread_mask: u64,
}

/// The swaps that turn word `k` into word `k ^ M t`, one for each dimension of the image of `M`.
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
    /// None so far; room for two for each of so many `words`.
    pub(super) fn new(parities: Vec<u64>, words: usize) -> Self {
        let room = if parities.is_empty() { 0 } else { 2 * words };
        let known = FxHashMap::with_capacity_and_hasher(room, FxBuildHasher);
        Self { parities, selects: Vec::with_capacity(room), known }
    }

    /// The number of combinations of parities, the length of a table.
    pub(super) fn combinations(&self) -> usize {
        1 << self.parities.len()
    }

    /// The select that a word comes from, where it comes from one.
    pub(super) fn select(&self, word: Word) -> Option<Select> {
        let Word::Selected(number) = word else { return None };
        self.selects.get(number as usize).copied()
    }

    /// How many selects the given words need.
    pub(super) fn needed(&self, words: impl Iterator<Item = Word>) -> u64 {
        let mut needed = vec![false; self.selects.len()];
        let mut left: Vec<Word> = words.collect();
        while let Some(word) = left.pop() {
            if let (Word::Selected(number), Some(select)) = (word, self.select(word))
                && !std::mem::replace(&mut needed[number as usize], true)
            {
                left.extend([select.odd, select.even]);
            }
        }
        needed.into_iter().filter(|&needed| needed).count() as u64
    }

    /// The value that is `table[p]` in threads whose parities are the bits of `p`.
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
        let number = *self.known.entry(select).or_insert(next);
        if number == next {
            self.selects.push(select);
        }
        Word::Selected(number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tilewright_layout::f2::multiply;

    /// The value of a word in a thread, source and received words standing for themselves.
    fn evaluate(selects: &Selects, word: Word, thread: u64) -> Word {
        let Word::Selected(number) = word else { return word };
        let select = selects.selects[number as usize];
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
                    let expected = Word::Source(multiply(columns, thread) as u32);
                    assert_eq!(evaluate(&selects, word, thread), expected, "thread {thread:#b}");
                }
            }
        }
    }

    #[test]
    fn what_was_selected_once_is_not_selected_again() {
        let mut selects = Selects::new(vec![1], 1);
        let table = [Word::Source(0), Word::Received(1)];
        assert_eq!(selects.value(&table), selects.value(&table));
        assert_eq!(selects.value(&[Word::Source(3), Word::Source(3)]), Word::Source(3));
        assert_eq!(selects.selects.len(), 1);
    }
}
