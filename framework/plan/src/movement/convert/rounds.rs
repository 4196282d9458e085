//! The rounds of an exchange, for those who explain or draw a plan.

use tilewright_layout::f2::multiply;

use super::exchange::Exchanges;
use super::plan::{Path, Plan, Steps};

/// In each round every thread of a block receives one word from a thread of its warp.
///
/// Threads are numbered lanes first: lane + lanes of a warp * warp.
#[derive(Debug, Clone, Copy)]
pub struct Rounds<'a>(&'a Exchanges);

impl Plan {
    /// The rounds, where lanes exchange values in rounds and nothing else moves; in a plan that first
    /// spreads copies those after.
    #[must_use]
    pub fn rounds(&self) -> Option<Rounds<'_>> {
        match &self.steps {
            _ if self.path == Path::Mixed => None,
            Steps::Exchanges(exchanges) => exchanges.is_rounds_alone().then_some(Rounds(exchanges)),
            Steps::Sequence(_, after) => after.rounds(),
            Steps::Renaming(_) | Steps::Scratch(_) | Steps::Cluster(_) => None,
        }
    }

    /// Whether what is stored to scratch memory lies in registers as the source layout says. It does not
    /// where lanes that hold copies first keep a share of them each, or exchange first.
    #[must_use]
    pub fn stores_source(&self) -> bool {
        match &self.steps {
            Steps::Sequence(before, _) => before.stores_source(),
            Steps::Scratch(_) | Steps::Cluster(_) => true,
            Steps::Exchanges(_) | Steps::Renaming(_) => false,
        }
    }

    /// Whether what is loaded from scratch memory lies in registers as the destination layout says. It does
    /// not where lanes exchange afterwards.
    #[must_use]
    pub fn loads_destination(&self) -> bool {
        match &self.steps {
            Steps::Sequence(_, after) => after.loads_destination(),
            Steps::Scratch(_) | Steps::Cluster(_) => true,
            Steps::Exchanges(_) | Steps::Renaming(_) => false,
        }
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
