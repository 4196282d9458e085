//! Moves: transpositions of two bits of the position (register and thread) of all elements, which come before the
//! rounds of a shuffle plan.
//!
//! A conversion that permutes position bits is a product of cycles, and a cycle is a product of transpositions. If a
//! register bit selects a word and the target has a lane swap along the lane bit, a transposition takes half as many
//! instructions as there are words. If the register bit selects an element within a word, byte permutes gather the
//! leaving elements of two words into one, a shuffle moves that word to the other lane, and byte permutes scatter the
//! received elements. The rounds of the shuffle plan do the rest. A transposition that rounds could do as well is done
//! by selects if further moves follow it.

use smallvec::SmallVec;

use crate::movement::conversion::{Origin, Position};
use tilewright_kernel::Counts;
use tilewright_target::ShuffleXorMasks;

/// A transposition of two position bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Move {
    /// Transposes a register bit that selects a word with a lane bit, by the target's swap instruction along that lane
    /// bit.
    Swap { register: u32, lane: u32 },
    /// Transposes a register bit that selects a word with any lane bit, by a shuffle between selects.
    ShuffleSwap { register: u32, lane: u32 },
    /// Transposes a register bit that selects an element within words with a lane bit, by byte permutes and a shuffle.
    Blend { register: u32, lane: u32 },
    /// Transposes a register bit that selects an element within words (`inner`) with a register bit that selects a word
    /// (`outer`), by byte permutes.
    Regroup { inner: u32, outer: u32 },
}

/// A sequence of moves, and the role that it gives to register bits.
#[derive(Debug, Clone, Default)]
pub(super) struct Moves {
    moves: SmallVec<[Move; 4]>,
    /// The mask of the register bits that select elements within words.
    pub(super) inner: u64,
    /// The mask of the register bits that select words.
    pub(super) outer: u64,
}

impl Move {
    /// Returns the operation counts of a warp for the move of `words` words; shuffling a word takes `words_per_element`
    /// shuffles.
    fn counts(self, words: u64, words_per_element: u64) -> Counts {
        match self {
            Self::Swap { .. } => {
                let swaps = words / 2 * words_per_element;
                Counts { shuffles: swaps, swaps, ..Counts::default() }
            }
            Self::ShuffleSwap { .. } => {
                Counts { shuffles: words / 2 * words_per_element, selects: words / 2 + words, ..Counts::default() }
            }
            // A single word is shuffled whole; no gathering is needed.
            Self::Blend { .. } if words == 1 => Counts { shuffles: 1, permutes: 1, ..Counts::default() },
            Self::Blend { .. } => Counts { shuffles: words / 2, permutes: words / 2 + words, ..Counts::default() },
            Self::Regroup { .. } => Counts { permutes: words, ..Counts::default() },
        }
    }

    /// Returns the position after the move of the element that was at `from`.
    fn applied(self, from: Position) -> Position {
        let Position { mut register, mut thread } = from;
        match self {
            Self::Swap { register: bit, lane }
            | Self::ShuffleSwap { register: bit, lane }
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

    /// Returns the last move; `None` if there are no moves.
    pub(super) fn last(&self) -> Option<Move> {
        self.moves.last().copied()
    }

    /// Returns the register bit of the last move if that move is a swap; `None` otherwise.
    pub(super) fn last_swapped(&self) -> Option<u32> {
        match self.last()? {
            Move::Swap { register, .. } => Some(register),
            _ => None,
        }
    }

    /// Returns the dependent chain of the moves: one shuffle for each move that shuffles.
    pub(super) fn chain(&self, xors: ShuffleXorMasks) -> Counts {
        let of_move = |one: Move| match one {
            Move::Swap { .. } => Counts { shuffles: 1, swaps: 1, ..Counts::default() },
            Move::ShuffleSwap { lane, .. } | Move::Blend { lane, .. } => {
                Counts { shuffles: 1, shuffles_xor: u64::from(xors.contains(1 << lane)), ..Counts::default() }
            }
            Move::Regroup { .. } => Counts::default(),
        };
        self.iter().fold(Counts::default(), |chain, one| chain.add_counts(of_move(one)))
    }

    /// Returns the sequence with the move `next` appended.
    pub(super) fn then(&self, next: Move) -> Self {
        let mut all = self.clone();
        all.moves.push(next);
        match next {
            Move::Swap { register, .. } | Move::ShuffleSwap { register, .. } => all.outer |= 1 << register,
            Move::Blend { register, .. } => all.inner |= 1 << register,
            Move::Regroup { inner, outer } => {
                all.inner |= 1 << inner;
                all.outer |= 1 << outer;
            }
        }
        all
    }

    /// Returns the operation counts of a warp for all moves of `words` words; shuffling a word takes
    /// `words_per_element` shuffles.
    pub(super) fn counts(&self, words: u64, words_per_element: u64) -> Counts {
        self.iter().fold(Counts::default(), |sum, one| sum.add_counts(one.counts(words, words_per_element)))
    }

    /// Returns the number of those shuffles of [`Moves::counts`], for the same arguments, whose lane xor is one of the
    /// constants `xors`.
    pub(super) fn shuffles_xor(&self, words: u64, words_per_element: u64, xors: ShuffleXorMasks) -> u64 {
        let across = |one: &Move| match one {
            Move::ShuffleSwap { lane, .. } | Move::Blend { lane, .. } => xors.contains(1 << lane),
            Move::Swap { .. } | Move::Regroup { .. } => false,
        };
        self.iter().filter(across).map(|one| one.counts(words, words_per_element).shuffles).sum()
    }
}

/// Returns the positions, after the move `by`, of the elements that the destination reads from the positions `origin`.
/// If `copies`, the register bit of the move only numbers replicas; after the move its lane bit does.
pub(super) fn moved(origin: &Origin, by: Move, copies: bool) -> Origin {
    let all = |positions: &[Position]| positions.iter().map(|&p| by.applied(p)).collect::<Vec<_>>();
    let mut of_threads = all(&origin.of_threads);
    let lane = match by {
        Move::Swap { lane, .. } | Move::ShuffleSwap { lane, .. } | Move::Blend { lane, .. } if copies => Some(lane),
        _ => None,
    };
    if let Some(lane) = lane {
        // Of the replicas along this lane bit, the one in the destination's own lane is the nearest.
        for (bit, position) in of_threads.iter_mut().enumerate() {
            position.thread = position.thread & !(1 << lane) | u64::from(bit as u32 == lane) << lane;
        }
    }
    Origin { of_registers: all(&origin.of_registers), of_threads }
}
