//! The plan of a conversion by shuffles between the lanes of a warp, with its operation counts.

use super::byte_merges::ByteMerges;
use super::moves::Moves;
use super::rounds::Round;
use super::selects::{Selects, Word};
use super::words::{WORD_BITS, Words};
use tilewright_kernel::{Counts, Element};
use tilewright_target::{ShuffleXorMasks, TargetDescription};

use crate::cost::WarpWork;

/// The plan of a conversion by shuffles: moves, rounds and selects.
#[derive(Debug, Clone)]
pub(crate) struct ShufflePlan {
    pub(super) element: Element,
    pub(super) lane_bits: u32,
    pub(crate) words: Words,
    /// The moves (transpositions of position bits) before the rounds of shuffles.
    pub(super) moves: Moves,
    pub(crate) rounds: Vec<Round>,
    pub(super) selects: Selects,
    /// The words of the destination, each as a source word, a received word or the result of a select.
    pub(super) taken: Vec<Word>,
    /// Byte permutes that replace the last selects; `None` if selects alone are as cheap or no such permutes exist.
    pub(super) byte_merges: Option<ByteMerges>,
    /// Number of selects that the plan executes.
    pub(super) needed: u64,
    /// The columns of `P`: for each thread bit, the bits that it flips in the index of the round, to give the index of
    /// the destination word that the thread takes in that round.
    pub(crate) taken_columns: Vec<u64>,
    /// The columns of the source thread: for each thread bit, the bits that it flips in the index of the thread from
    /// which it reads.
    pub(crate) source_thread: Vec<u64>,
    /// The constant lane xors by which the target can shuffle.
    pub(super) xors: ShuffleXorMasks,
}

impl ShufflePlan {
    /// Returns the number of shuffles that move one word: 1, or 2 for elements of 64 bits.
    pub(super) fn words_per_element(&self) -> u64 {
        u64::from(self.element.bits().div_ceil(WORD_BITS))
    }

    /// Returns the dependent chain of shuffles: those of the moves, then one for all rounds, which are independent.
    pub(crate) fn chain(&self) -> Counts {
        let mut moving = self.rounds.iter().filter(|round| !round.stays()).peekable();
        let shuffles = u64::from(moving.peek().is_some());
        // A single shuffle represents all rounds; it counts as one by a constant lane xor only if every round has one.
        let shuffles_xor = if moving.all(|round| self.across(round).is_some()) { shuffles } else { 0 };
        self.moves.chain(self.xors).add_counts(Counts { shuffles, shuffles_xor, ..Counts::default() })
    }

    /// Whether the plan has no moves (transpositions of position bits) before its rounds of shuffles.
    pub(crate) fn is_rounds_alone(&self) -> bool {
        self.moves.is_empty()
    }

    pub(super) fn counts(&self) -> Counts {
        let moving = self.rounds.iter().filter(|round| round.offered.is_some()).count() as u64;
        let across = self.rounds.iter().filter(|round| self.across(round).is_some()).count() as u64;
        let rounds = Counts {
            shuffles: moving * self.words_per_element(),
            shuffles_xor: across * self.words_per_element()
                + self.moves.shuffles_xor(self.words.count(), self.words_per_element(), self.xors),
            selects: self.needed,
            permutes: self.byte_merges.as_ref().map_or(0, |byte_merges| byte_merges.byte_merges.len() as u64),
            ..Counts::default()
        };
        rounds.add_counts(self.moves.counts(self.words.count(), self.words_per_element()))
    }

    /// Returns the predicted cycles of a block of `warps` warps.
    pub(super) fn cycles(&self, warps: u64, target: &TargetDescription) -> f64 {
        let counts = self.counts();
        // The cost table prices 32-bit selects.
        let issued = Counts { selects: counts.selects * self.words_per_element(), ..counts };
        WarpWork { counts: issued, chain: self.chain(), ..WarpWork::default() }.block_cycles(warps, target)
    }

    /// Returns the constant lane xor of a round's shuffle; `None` if the xor differs between lanes or the target cannot
    /// shuffle by it.
    pub(super) fn across(&self, round: &Round) -> Option<u32> {
        let lanes = (1u64 << self.lane_bits) - 1;
        let own = |(bit, thread): (usize, &u64)| thread & lanes == (1 << bit) & lanes;
        let constant = round.thread & lanes;
        let alike = !round.stays() && self.xors.contains(constant) && self.source_thread.iter().enumerate().all(own);
        alike.then_some(constant as u32)
    }

    pub(super) fn why_above(&self, bound: u64) -> String {
        let packed = 1u32 << self.words.src_inner.len();
        let fits = (WORD_BITS / self.element.bits()).max(1);
        if packed < fits {
            return format!(
                "only {packed} of {fits} elements that fit a word stay together in both layouts; {bound} shuffles \
                 would move full words"
            );
        }
        if !self.moves.is_empty() {
            return format!("transpositions run in sequence, so some words move twice; lanes lack {bound} words");
        }
        format!("some lanes shuffle words that they already have; the lane with the fewest words needs {bound}")
    }
}
