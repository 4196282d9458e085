//! The rounds of an exchange, for those who explain or draw a plan.

use crate::f2::multiply;

use super::exchange::Exchanges;
use super::plan::{Plan, Steps};

/// In each round every thread of a block receives one word from a thread of its warp.
///
/// Threads are numbered lanes first: lane + lanes of a warp * warp.
#[derive(Debug, Clone, Copy)]
pub struct Rounds<'a>(&'a Exchanges);

impl Plan {
    /// The rounds, where lanes exchange values; in a plan that first spreads copies those after.
    #[must_use]
    pub fn rounds(&self) -> Option<Rounds<'_>> {
        match &self.steps {
            Steps::Exchanges(exchanges) => Some(Rounds(exchanges)),
            Steps::Sequence(_, after) => after.rounds(),
            Steps::Renaming(_) | Steps::Scratch(_) | Steps::Cluster(_) => None,
        }
    }

    /// Whether lanes that hold copies first keep a share of them each, so that what is stored or
    /// exchanged is not what the source layout says.
    #[must_use]
    pub fn spreads_copies(&self) -> bool {
        matches!(self.steps, Steps::Sequence(..))
    }
}

impl Rounds<'_> {
    /// How many rounds there are.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.0.rounds.len() as u64
    }

    /// Whether nothing leaves a thread in a round, so that no exchange is issued for it.
    #[must_use]
    pub fn stays(&self, round: u64) -> bool {
        self.0.rounds.get(round as usize).is_none_or(super::exchange::Round::stays)
    }

    /// The thread from which a thread receives in a round.
    #[must_use]
    pub fn source(&self, round: u64, thread: u64) -> u64 {
        let constant = self.0.rounds.get(round as usize).map_or(0, |round| round.thread);
        multiply(&self.0.source_thread, thread) ^ constant
    }

    /// The round in which a thread receives what its destination register `register` holds.
    #[must_use]
    pub fn of(&self, register: u64, thread: u64) -> u64 {
        let (word, _) = self.0.words.dst_word(register);
        word ^ multiply(&self.0.taken_columns, thread)
    }
}
