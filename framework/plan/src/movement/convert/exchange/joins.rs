//! The last selects as byte permutes, where these also put narrow elements in the order of registers.
//!
//! Elements that travelled together are often not those that the destination's registers hold side by
//! side. Where a word of the destination is made of two words that differ from thread to thread only
//! by which is which, one byte permute with one of two selectors takes the place of a select, and
//! whoever packs the registers next finds them packed.

use smallvec::SmallVec;

use super::rounds::Round;
use super::selects::{Select, Selects, Word};
use super::words::{WORD_BITS, Words, room, spread};
use tilewright_kernel::Element;

/// A word made of bytes of two.
#[derive(Debug, Clone, Copy)]
pub(super) struct Join {
    pub(super) a: Word,
    pub(super) b: Word,
    /// By whose parity one of the selectors is chosen.
    pub(super) parity: u32,
    pub(super) even: u16,
    pub(super) odd: u16,
}

/// The words of the destination in the order of its registers, and which registers they hold.
#[derive(Debug, Clone)]
pub(super) struct Joins {
    pub(super) joins: Vec<Join>,
    pub(super) words: Words,
}

/// Joins instead of the selects of `taken`, where they are no more; with the number of selects left.
pub(super) fn joins(
    element: Element,
    words: &Words,
    rounds: &[Round],
    selects: &Selects,
    taken: &[Word],
) -> Option<(Joins, u64)> {
    let ordered = words.in_register_order(room(element));
    if ordered.dst_inner == words.dst_inner || words.dst_inner.is_empty() {
        return None;
    }
    let join = |word: u64| joined(element, words, &ordered, selects, taken, word);
    let joins = (0..1u64 << ordered.dst_outer.len()).map(join).collect::<Option<Vec<Join>>>()?;
    let offered: Vec<Word> = rounds.iter().filter_map(|round| round.offered).collect();
    let parts = joins.iter().flat_map(|join| [join.a, join.b]);
    let left = selects.needed(offered.into_iter().chain(parts));
    let joins = Joins { joins, words: ordered };
    (joins.joins.len() as u64 + left <= selects.selects.len() as u64).then_some((joins, left))
}

/// One word in the order of registers; `None` where it is not made of two.
fn joined(
    element: Element,
    words: &Words,
    ordered: &Words,
    selects: &Selects,
    taken: &[Word],
    word: u64,
) -> Option<Join> {
    let bytes = u64::from(element.bits() / 8);
    let mut parts: SmallVec<[Word; 2]> = SmallVec::new();
    let mut chosen_by = None;
    let (mut even, mut odd) = (0, 0);
    for at in 0..1u64 << ordered.dst_inner.len() {
        let register = spread(word, &ordered.dst_outer) | spread(at, &ordered.dst_inner);
        let (from, inside) = words.dst_word(register);
        let Select { parity, odd: if_odd, even: if_even } = selects.select(*taken.get(from as usize)?)?;
        if *chosen_by.get_or_insert(parity) != parity {
            return None;
        }
        for (selector, part) in [(&mut even, if_even), (&mut odd, if_odd)] {
            if !parts.contains(&part) {
                parts.push(part);
            }
            let which = parts.iter().position(|known| *known == part)? as u64;
            for byte in 0..bytes {
                *selector |= ((4 * which + inside * bytes + byte) as u16 & 0xf) << (4 * (at * bytes + byte));
            }
        }
    }
    debug_assert!(bytes << ordered.dst_inner.len() <= u64::from(WORD_BITS / 8), "a word has room");
    match parts.as_slice() {
        &[a, b] => Some(Join { a, b, parity: chosen_by?, even, odd }),
        _ => None,
    }
}
