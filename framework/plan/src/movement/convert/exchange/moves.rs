//! Exchanging two bits of all elements' positions at once.
//!
//! A conversion that only permutes the bits of positions is a product of cycles, a cycle one of
//! transpositions. Where the register bit of a transposition is one that numbers words and the target
//! swaps lanes along the lane bit, half as many instructions as words do it. Where it is one inside
//! words, byte permutes gather the elements that leave two words into one, that is exchanged for the
//! one of the lane across, and byte permutes scatter what came. What is left is for the rounds; what
//! rounds could do as well is done by selects where more moves come after it.

use smallvec::SmallVec;

use crate::movement::conversion::{Origin, Position};
use tilewright_kernel::Counts;
use tilewright_target::LaneXors;

/// Exchanges one bit of positions for another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Move {
    /// A register bit that numbers words for a lane bit along which the target swaps.
    Swap { register: u32, lane: u32 },
    /// The same along any lane bit, by exchanges between selects.
    Trade { register: u32, lane: u32 },
    /// A register bit inside words for a lane bit.
    Blend { register: u32, lane: u32 },
    /// A register bit inside words for one that numbers words.
    Regroup { inner: u32, outer: u32 },
}

/// Moves, one after the other.
#[derive(Debug, Clone, Default)]
pub(super) struct Moves {
    moves: SmallVec<[Move; 4]>,
    /// Register bits that are inside words, as a mask.
    pub(super) inner: u64,
    /// Register bits that number words, as a mask.
    pub(super) outer: u64,
}

impl Move {
    /// What it does in words of which each holds `1 << inner` elements, there being `words` of them.
    fn counts(self, words: u64, parts: u64) -> Counts {
        match self {
            Self::Swap { .. } => Counts { exchanges: words / 2 * parts, ..Counts::default() },
            Self::Trade { .. } => {
                Counts { exchanges: words / 2 * parts, selects: words / 2 + words, ..Counts::default() }
            }
            // A word on its own is exchanged whole; what leaves and what stays needs no gathering.
            Self::Blend { .. } if words == 1 => Counts { exchanges: 1, permutes: 1, ..Counts::default() },
            Self::Blend { .. } => Counts { exchanges: words / 2, permutes: words / 2 + words, ..Counts::default() },
            Self::Regroup { .. } => Counts { permutes: words, ..Counts::default() },
        }
    }

    /// The position to which it brings what was at another.
    fn applied(self, from: Position) -> Position {
        let Position { mut register, mut thread } = from;
        match self {
            Self::Swap { register: bit, lane }
            | Self::Trade { register: bit, lane }
            | Self::Blend { register: bit, lane } => {
                let differ = (register >> bit ^ thread >> lane) & 1;
                register ^= differ << bit;
                thread ^= differ << lane;
            }
            Self::Regroup { inner, outer } => {
                let differ = (register >> inner ^ register >> outer) & 1;
                register ^= differ << inner | differ << outer;
            }
        }
        Position { register, thread }
    }
}

impl Moves {
    pub(super) fn is_empty(&self) -> bool {
        self.moves.is_empty()
    }

    pub(super) fn len(&self) -> usize {
        self.moves.len()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = Move> + '_ {
        self.moves.iter().copied()
    }

    /// The last one.
    pub(super) fn last(&self) -> Option<Move> {
        self.moves.last().copied()
    }

    /// The register bit of the last one, where that is a swap.
    pub(super) fn last_swapped(&self) -> Option<u32> {
        match self.last()? {
            Move::Swap { register, .. } => Some(register),
            _ => None,
        }
    }

    /// How many of them exchange.
    pub(super) fn exchanging(&self) -> u64 {
        self.iter().filter(|one| !matches!(one, Move::Regroup { .. })).count() as u64
    }

    /// These, then another.
    pub(super) fn then(&self, next: Move) -> Self {
        let mut all = self.clone();
        all.moves.push(next);
        match next {
            Move::Swap { register, .. } | Move::Trade { register, .. } => all.outer |= 1 << register,
            Move::Blend { register, .. } => all.inner |= 1 << register,
            Move::Regroup { inner, outer } => {
                all.inner |= 1 << inner;
                all.outer |= 1 << outer;
            }
        }
        all
    }

    /// What they do to so many words; elements take `parts` exchanges each.
    pub(super) fn counts(&self, words: u64, parts: u64) -> Counts {
        self.iter().fold(Counts::default(), |sum, one| sum.plus(one.counts(words, parts)))
    }

    /// How many of the exchanges that [`Moves::counts`] counts go by a constant number of `xors`.
    pub(super) fn exchanges_xor(&self, words: u64, parts: u64, xors: LaneXors) -> u64 {
        let across = |one: &Move| match one {
            Move::Trade { lane, .. } | Move::Blend { lane, .. } => xors.contains(1 << lane),
            Move::Swap { .. } | Move::Regroup { .. } => false,
        };
        self.iter().filter(across).map(|one| one.counts(words, parts).exchanges).sum()
    }
}

/// The origin of positions, counted from where a move has brought the source's elements. `copies` says
/// that the move's register bit told only copies apart, which its lane bit does from then on.
pub(super) fn moved(origin: &Origin, by: Move, copies: bool) -> Origin {
    let all = |positions: &[Position]| positions.iter().map(|&p| by.applied(p)).collect::<Vec<_>>();
    let mut of_threads = all(&origin.of_threads);
    let lane = match by {
        Move::Swap { lane, .. } | Move::Trade { lane, .. } | Move::Blend { lane, .. } if copies => Some(lane),
        _ => None,
    };
    if let Some(lane) = lane {
        // Of two copies that in the own lane is the nearest.
        for (bit, position) in of_threads.iter_mut().enumerate() {
            position.thread = position.thread & !(1 << lane) | u64::from(bit as u32 == lane) << lane;
        }
    }
    Origin { of_registers: all(&origin.of_registers), of_threads }
}
