//! The rounds of a shuffle plan, for explanations and pictures.

use tilewright_layout::f2::multiply_vector;

use super::plan::{ConversionKind, ConversionPlan, Steps};
use super::shuffle::ShufflePlan;

/// The rounds of a shuffle plan: in each round every thread of a block receives one word from a thread of its warp.
///
/// Threads are numbered by `warp * lanes + lane`, where `lanes` is the number of lanes of a warp.
#[derive(Debug, Clone, Copy)]
pub struct ShuffleRounds<'a>(&'a ShufflePlan);

impl ConversionPlan {
    /// Returns the rounds of a plan that moves data by rounds of shuffles alone. If the plan begins with a division of
    /// replicas among threads, these are the rounds after it. `None` for other plans, such as those that first swap
    /// bits of positions.
    #[must_use]
    pub fn shuffle_rounds(&self) -> Option<ShuffleRounds<'_>> {
        match &self.steps {
            _ if self.path == ConversionKind::Mixed => None,
            Steps::Shuffles(shuffles) => shuffles.is_rounds_alone().then_some(ShuffleRounds(shuffles)),
            Steps::Sequence(_, after) => after.shuffle_rounds(),
            Steps::Renaming(_) | Steps::Scratch(_) | Steps::Cluster(_) => None,
        }
    }

    /// Whether the registers that the plan stores to scratch memory have the source layout. They do not if lanes with
    /// replicas first divide them, or if the plan shuffles first.
    #[must_use]
    pub fn stores_source_layout(&self) -> bool {
        match &self.steps {
            Steps::Sequence(before, _) => before.stores_source_layout(),
            Steps::Scratch(_) | Steps::Cluster(_) => true,
            Steps::Shuffles(_) | Steps::Renaming(_) => false,
        }
    }

    /// Whether the registers that the plan loads from scratch memory have the destination layout. They do not if the
    /// plan shuffles afterwards.
    #[must_use]
    pub fn loads_destination_layout(&self) -> bool {
        match &self.steps {
            Steps::Sequence(_, after) => after.loads_destination_layout(),
            Steps::Scratch(_) | Steps::Cluster(_) => true,
            Steps::Shuffles(_) | Steps::Renaming(_) => false,
        }
    }
}

impl ShuffleRounds<'_> {
    /// Returns the number of rounds of shuffles.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.0.rounds.len() as u64
    }

    /// Whether the round issues no shuffle, because every thread would read from itself.
    #[must_use]
    pub fn is_identity(&self, round: u64) -> bool {
        self.0.rounds.get(round as usize).is_none_or(super::shuffle::Round::stays)
    }

    /// Returns the index of the thread from which the thread `thread` receives its word in the round `round`.
    #[must_use]
    pub fn source_thread(&self, round: u64, thread: u64) -> u64 {
        let constant = self.0.rounds.get(round as usize).map_or(0, |round| round.thread);
        multiply_vector(&self.0.source_thread, thread) ^ constant
    }

    /// Returns the number of the round that brings a thread the value of its destination register `register`.
    #[must_use]
    pub fn round_of_register(&self, register: u64, thread: u64) -> u64 {
        let (word, _) = self.0.words.dst_word(register);
        word ^ multiply_vector(&self.0.taken_columns, thread)
    }
}
