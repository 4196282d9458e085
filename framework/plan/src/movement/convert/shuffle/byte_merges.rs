//! Byte merges: byte permutes (PTX `prmt`) that replace the last selects of a shuffle plan, and also restore the
//! register order of narrow elements.
//!
//! Elements that travel in one word are often not adjacent in the destination's registers. If a destination word
//! consists of two words whose order depends only on the thread, one byte permute with one of two selectors replaces a
//! select, and the registers need no further packing.

use smallvec::SmallVec;

use super::rounds::Round;
use super::selects::{Select, Selects, Word};
use super::words::{WORD_BITS, Words, replicas, room};
use tilewright_kernel::Element;

/// A byte merge: a destination word whose bytes come from the words `a` and `b`. The byte selector is `odd` in threads
/// whose parity is odd, `even` in the others.
#[derive(Debug, Clone, Copy)]
pub(super) struct ByteMerge {
    pub(super) a: Word,
    pub(super) b: Word,
    /// Index of the parity of the thread index that chooses between `even` and `odd`.
    pub(super) parity: u32,
    pub(super) even: u16,
    pub(super) odd: u16,
}

/// The byte merges that produce all 32-bit words of the destination, one for each word, and the division of the
/// destination's registers into these words: consecutive registers share a word.
#[derive(Debug, Clone)]
pub(super) struct ByteMerges {
    pub(super) byte_merges: Vec<ByteMerge>,
    pub(super) words: Words,
}

/// Finds byte merges that replace the last selects of the destination's words `taken`; returns them with the number of
/// selects that remain. `None` if a word has no byte merge, or if byte merges and remaining selects are more operations
/// than the selects alone.
pub(super) fn byte_merges(
    element: Element,
    words: &Words,
    rounds: &[Round],
    selects: &Selects,
    taken: &[Word],
) -> Option<(ByteMerges, u64)> {
    let ordered = words.in_register_order(room(element));
    if ordered.dst_inner == words.dst_inner || words.dst_inner.is_empty() {
        return None;
    }
    let join = |word: u64| joined(element, words, &ordered, selects, taken, word);
    let byte_merges = (0..1u64 << ordered.dst_outer.len()).map(join).collect::<Option<Vec<ByteMerge>>>()?;
    let offered: Vec<Word> = rounds.iter().filter_map(|round| round.offered).collect();
    let sources = byte_merges.iter().flat_map(|join| [join.a, join.b]);
    let left = selects.needed(offered.into_iter().chain(sources));
    let byte_merges = ByteMerges { byte_merges, words: ordered };
    (byte_merges.byte_merges.len() as u64 + left <= selects.selects.len() as u64).then_some((byte_merges, left))
}

/// Returns the byte merge that produces the destination word `word` of `ordered` from the words that the selects
/// `taken` choose, one for each destination word of `words`; `None` if its bytes are not from two words, or the choice
/// depends on several parities.
fn joined(
    element: Element,
    words: &Words,
    ordered: &Words,
    selects: &Selects,
    taken: &[Word],
    word: u64,
) -> Option<ByteMerge> {
    let bytes = u64::from(element.bits() / 8);
    let mut sources: SmallVec<[Word; 2]> = SmallVec::new();
    let mut chosen_by = None;
    let (mut even, mut odd) = (0, 0);
    for at in 0..1u64 << ordered.dst_inner.len() {
        let register = replicas(word, &ordered.dst_outer) | replicas(at, &ordered.dst_inner);
        let (from, inside) = words.dst_word(register);
        let Select { parity, odd: if_odd, even: if_even } = selects.select(*taken.get(from as usize)?)?;
        if *chosen_by.get_or_insert(parity) != parity {
            return None;
        }
        for (selector, source) in [(&mut even, if_even), (&mut odd, if_odd)] {
            if !sources.contains(&source) {
                sources.push(source);
            }
            let which = sources.iter().position(|known| *known == source)? as u64;
            for byte in 0..bytes {
                *selector |= ((4 * which + inside * bytes + byte) as u16 & 0xf) << (4 * (at * bytes + byte));
            }
        }
    }
    debug_assert!(bytes << ordered.dst_inner.len() <= u64::from(WORD_BITS / 8), "a word has a free byte");
    match sources.as_slice() {
        &[a, b] => Some(ByteMerge { a, b, parity: chosen_by?, even, odd }),
        _ => None,
    }
}
