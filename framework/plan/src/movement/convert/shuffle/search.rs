//! Searches the moves before the rounds of a shuffle plan. A move transposes two bits of the position of all elements.
//!
//! Every lane bit that does not stay is the end of a path: the elements of the destination's lanes along it come from
//! another lane bit, or from the register bit at the start of the path. Transposing that register bit with the lane bit
//! completes the lane bit. All short sequences of such moves are compared, the rounds alone first.

use std::collections::VecDeque;

use super::super::super::ConversionProblem;
use super::super::super::conversion::{Origin, Position};
use super::super::super::price::occupied_cycles;
use super::moves::{Move, Moves, moved};
use super::rounds::{choose_destinations, keep_local_words};
use super::schedule::ShuffleProblem;
use super::words::{WordMap, Words, lane_local, room};
use super::{ShufflePlan, WORD_BITS};
use tilewright_target::{ShuffleXorMasks, TargetDescription};

/// Max total number of words over all sequences of moves that are compared, since the time of the search grows with it.
const MOST_WEIGHED: u64 = 1024;
/// Max number of moves in a sequence.
const MOST_MOVES: usize = 4;

/// The source register bit from which the elements along a lane bit of the destination come, possibly through a chain
/// of other lane bits (the path). `direct`: no other lane bit is on the path.
struct Start {
    register: u32,
    direct: bool,
}

struct Search<'a> {
    conversion: &'a ConversionProblem,
    /// The lane bits along which the target has a swap instruction.
    swapped: Vec<u32>,
    /// The constant lane xors by which the target can shuffle.
    xors: ShuffleXorMasks,
    best: Option<ShufflePlan>,
    target: &'a TargetDescription,
    /// The cycles that a plan must stay below: at first the caller's limit, then the cycles of the best plan.
    most: f64,
    budget: u64,
    reason: Option<String>,
}

/// Returns the shuffle plan of the fewest cycles that moves elements from `origin`, or the reason if none takes fewer
/// than `most`.
pub(super) fn best(
    conversion: &ConversionProblem,
    origin: &Origin,
    target: &TargetDescription,
    most: f64,
) -> Result<ShufflePlan, String> {
    let swapped = target.swap_lane_bits(WORD_BITS).map(u32::trailing_zeros);
    let swapped = swapped.filter(|&bit| bit < conversion.lane_bits).collect();
    let xors = target.lane_xors(WORD_BITS);
    let mut search = Search { conversion, swapped, xors, target, best: None, most, budget: MOST_WEIGHED, reason: None };
    search.visit(origin);
    let Search { best, reason, .. } = search;
    best.ok_or_else(|| reason.unwrap_or_else(|| format!("takes {most:.0} cycles or more")))
}

impl Search<'_> {
    /// Compares sequences of moves that continue from `origin`, short sequences before long ones.
    fn visit(&mut self, origin: &Origin) {
        let mut open = VecDeque::from([(origin.clone(), Moves::default())]);
        while let Some((origin, moves)) = open.pop_front() {
            if self.budget == 0 {
                return;
            }
            if !self.weigh(&origin, &moves) || moves.len() >= MOST_MOVES {
                continue;
            }
            for step in self.next(&origin, &moves) {
                let (mut origin, mut moves) = (origin.clone(), moves.clone());
                for one in step.into_iter().flatten() {
                    let copies = selects_only_replicas(&origin, one);
                    origin = moved(&origin, one, copies);
                    moves = moves.then(one);
                }
                open.push_back((origin, moves));
            }
        }
    }

    /// Plans the rounds of shuffles after the given moves, and keeps the plan if it is the best; returns false if
    /// longer sequences of moves cannot be cheaper.
    fn weigh(&mut self, origin: &Origin, moves: &Moves) -> bool {
        let Some(words) = Words::new(self.conversion, origin, moves) else { return true };
        let words_per_element = u64::from(self.conversion.element.bits().div_ceil(WORD_BITS));
        let moved = moves.counts(words.count(), words_per_element);
        if occupied_cycles(&moved, self.conversion.warps(), self.target) >= self.most {
            return false;
        }
        self.budget = self.budget.saturating_sub(words.count());
        let map = WordMap::new(origin, &words);
        let few_selects = choose_destinations(&map);
        let few_shuffles = keep_local_words(&map).filter(|columns| Some(columns) != few_selects.as_ref());
        if few_selects.is_none() && few_shuffles.is_none() && self.reason.is_none() {
            self.reason = Some("threads need several words of one thread, for every order of words".to_owned());
        }
        let problem = ShuffleProblem {
            conversion: self.conversion,
            words: &words,
            map: &map,
            moves,
            xors: self.xors,
            target: self.target,
        };
        for columns in few_selects.iter().chain(&few_shuffles) {
            if let Some(better) = problem.best(columns, self.most) {
                self.most = self.most.min(better.cycles(self.conversion.warps(), self.target));
                self.best = Some(better);
            }
        }
        true
    }

    /// Returns candidates for the next step of the sequence: one move, or a regrouping followed by the swap for which
    /// it is made.
    fn next(&self, origin: &Origin, moves: &Moves) -> Vec<[Option<Move>; 2]> {
        let inside = lane_local(origin) & !moves.outer;
        let blends = inside.count_ones() < room(self.conversion.element);
        let mut found = Vec::new();
        if self.swapped.is_empty() && !blends {
            return found;
        }
        for lane in 0..self.conversion.lane_bits {
            let Some(Start { register, direct }) = self.start(origin, lane) else { continue };
            let (is_inner, is_outer) = (moves.inner >> register & 1 == 1, moves.outer >> register & 1 == 1);
            let swaps = self.swapped.contains(&lane);
            if swaps && !is_inner {
                found.push([Some(Move::Swap { register, lane }), None]);
            }
            if let (true, true, false, Some(outer)) = (swaps, blends, is_outer, moves.last_swapped()) {
                let regroup = Move::Regroup { inner: register, outer };
                found.push([Some(regroup), Some(Move::Swap { register: outer, lane })]);
            }
            // The rounds can do the work of this move as well, unless the register bit is swapped next.
            let swapped_next = |&&next: &&u32| {
                self.start(origin, next).is_some_and(|start| start.register == register && !start.direct)
            };
            if direct && !swaps && !is_inner && self.swapped.iter().any(|next| swapped_next(&next)) {
                found.push([Some(Move::ShuffleSwap { register, lane }), None]);
            }
            // Blends of different bits commute.
            let in_order = !matches!(
                moves.last(), Some(Move::Blend { register: other, lane: last }) if last > lane && other != register
            );
            if blends && in_order && !is_outer && (direct || taken_in(origin, lane)) {
                found.push([Some(Move::Blend { register, lane }), None]);
            }
        }
        found
    }

    /// Follows the elements along a destination lane bit back to their source, from lane bit to lane bit, until a
    /// register bit. `None` if the elements do not leave their lane, or if no register bit is on this path.
    fn start(&self, origin: &Origin, lane: u32) -> Option<Start> {
        let mut at = lane;
        for _ in 0..=self.conversion.lane_bits {
            let Position { register, thread } = *origin.of_threads.get(at as usize)?;
            if register != 0 {
                return Some(Start { register: register.trailing_zeros(), direct: at == lane });
            }
            if thread == 0 {
                // The destination has replicas along this lane bit; its partner is a register bit that numbers replicas
                // of the source.
                return (at == lane && taken_in(origin, lane))
                    .then(|| Start { register: self.copies(origin), direct: false });
            }
            if thread == 1 << at {
                return None;
            }
            at = thread.trailing_zeros();
        }
        None
    }

    /// Returns the lowest register bit above the source's registers that no destination position reads; it can number
    /// replicas.
    fn copies(&self, origin: &Origin) -> u32 {
        let past = self.conversion.src.registers.len() as u32;
        let read = used(origin);
        (past..).find(|&bit| read >> bit & 1 == 0).unwrap_or(past)
    }
}

/// Whether the register bit of the move `by` only numbers replicas, because no destination position reads it.
fn selects_only_replicas(origin: &Origin, by: Move) -> bool {
    match by {
        Move::Swap { register, .. } | Move::ShuffleSwap { register, .. } | Move::Blend { register, .. } => {
            used(origin) >> register & 1 == 0
        }
        Move::Regroup { .. } => false,
    }
}

/// Whether some destination register reads an element from a lane whose index differs in the bit `lane`.
fn taken_in(origin: &Origin, lane: u32) -> bool {
    origin.of_registers.iter().any(|p| p.thread >> lane & 1 == 1)
}

/// Returns the mask of the source register bits that some destination position reads.
fn used(origin: &Origin) -> u64 {
    origin.of_registers.iter().chain(&origin.of_threads).fold(0, |sum, p| sum | p.register)
}
