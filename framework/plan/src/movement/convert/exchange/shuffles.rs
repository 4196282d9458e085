//! Plans conversions by shuffles between the lanes of a warp.

use super::joins::Joins;
use super::moves::Moves;
use super::rounds::Round;
use super::selects::{Selects, Word};
use super::words::{WORD_BITS, Words};
use tilewright_kernel::{Counts, Element};
use tilewright_target::LaneXors;

/// How the exchanges go.
#[derive(Debug, Clone)]
pub(crate) struct Exchanges {
    pub(super) element: Element,
    pub(super) lane_bits: u32,
    pub(crate) words: Words,
    /// What happens to the words before the rounds.
    pub(super) moves: Moves,
    pub(crate) rounds: Vec<Round>,
    pub(super) selects: Selects,
    /// The words of the destination.
    pub(super) taken: Vec<Word>,
    /// What takes the place of the last selects.
    pub(super) joins: Option<Joins>,
    /// Selects that are needed.
    pub(super) needed: u64,
    /// Columns of `P`: what each thread bit adds to the round in which a word is taken.
    pub(crate) taken_columns: Vec<u64>,
    /// Columns of the source thread, one for each thread bit.
    pub(crate) source_thread: Vec<u64>,
    /// Numbers by which lanes that exchange may differ.
    pub(super) xors: LaneXors,
}

impl Exchanges {
    /// Exchanges that an element, or a group of packed ones, takes.
    pub(super) fn parts(&self) -> u64 {
        u64::from(self.element.bits().div_ceil(WORD_BITS))
    }

    /// How often exchanges wait for each other.
    pub(super) fn stages(&self) -> u64 {
        let moving = self.rounds.iter().any(|round| !round.stays());
        (self.moves.exchanging() + u64::from(moving)).max(1)
    }

    /// Whether rounds are all there is.
    pub(crate) fn is_rounds_alone(&self) -> bool {
        self.moves.is_empty()
    }

    pub(super) fn counts(&self) -> Counts {
        let moving = self.rounds.iter().filter(|round| round.offered.is_some()).count() as u64;
        let across = self.rounds.iter().filter(|round| self.across(round).is_some()).count() as u64;
        let rounds = Counts {
            exchanges: moving * self.parts(),
            exchanges_xor: across * self.parts()
                + self.moves.exchanges_xor(self.words.count(), self.parts(), self.xors),
            selects: self.needed,
            permutes: self.joins.as_ref().map_or(0, |joins| joins.joins.len() as u64),
            ..Counts::default()
        };
        rounds.plus(self.moves.counts(self.words.count(), self.parts()))
    }

    /// The number by which source and reading lane differ in a round, where it is the same for all lanes
    /// and lanes can exchange so.
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
                "only {packed} of {fits} elements that fit a word stay together in both layouts; {bound} exchanges \
                 would carry full words"
            );
        }
        if !self.moves.is_empty() {
            return format!("bits change places in turn, so some words travel twice; lanes lack {bound} words");
        }
        format!("some lanes exchange in every round what they hold already; the neediest lacks {bound} words")
    }
}
