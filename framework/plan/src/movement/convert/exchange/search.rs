//! Which moves come before the rounds.
//!
//! Every lane bit that does not stay is the end of a path: what the destination's lanes take along it
//! comes from another lane bit, or from the register bit where the path begins. Exchanging that
//! register bit for the lane bit brings one of them home. All short sequences of such moves are
//! weighed, the rounds alone first.

use std::collections::VecDeque;

use super::super::super::Conversion;
use super::super::super::conversion::{Origin, Position};
use super::super::super::price::slots;
use super::moves::{Move, Moves, moved};
use super::rounds::{choose_destinations, stay_at_home};
use super::taking::Question;
use super::words::{WordMap, Words, lane_local, room};
use super::{Exchanges, WORD_BITS};
use tilewright_target::{LaneXors, TargetDescription};

/// How many words the sequences that are weighed have at most, all together: time grows with them.
const MOST_WEIGHED: u64 = 1024;
/// How many moves a sequence has at most.
const MOST_MOVES: usize = 4;

/// The register bit at which the path to a lane bit begins, and whether no other lane bit is on it.
struct Start {
    register: u32,
    direct: bool,
}

struct Search<'a> {
    conversion: &'a Conversion,
    /// Lane bits along which the target swaps.
    swapped: Vec<u32>,
    /// Numbers by which lanes that exchange may differ.
    xors: LaneXors,
    best: Option<Exchanges>,
    /// Only ways of fewer slots are of use.
    most: f64,
    budget: u64,
    reason: Option<String>,
}

/// The best way to take elements from where they originate; the reason where there is none of
/// fewer slots than `most`.
pub(super) fn best(
    conversion: &Conversion,
    origin: &Origin,
    target: &TargetDescription,
    most: f64,
) -> Result<Exchanges, String> {
    let swapped = target.swapped_lanes(WORD_BITS).map(u32::trailing_zeros);
    let swapped = swapped.filter(|&bit| bit < conversion.lane_bits).collect();
    let xors = target.lane_xors(WORD_BITS);
    let mut search = Search { conversion, swapped, xors, best: None, most, budget: MOST_WEIGHED, reason: None };
    search.visit(origin);
    let Search { best, reason, .. } = search;
    best.ok_or_else(|| reason.unwrap_or_else(|| format!("takes {most} wavefront slots or more")))
}

impl Search<'_> {
    /// Weighs the moves from an origin on, short sequences before long ones.
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
                    let copies = tells_copies_apart(&origin, one);
                    origin = moved(&origin, one, copies);
                    moves = moves.then(one);
                }
                open.push_back((origin, moves));
            }
        }
    }

    /// Weighs rounds after the given moves; false where more moves can only be worse.
    fn weigh(&mut self, origin: &Origin, moves: &Moves) -> bool {
        let Some(words) = Words::new(self.conversion, origin, moves) else { return true };
        let parts = u64::from(self.conversion.element.bits().div_ceil(WORD_BITS));
        if slots(&moves.counts(words.count(), parts)) >= self.most {
            return false;
        }
        self.budget = self.budget.saturating_sub(words.count());
        let map = WordMap::new(origin, &words);
        let few_selects = choose_destinations(&map);
        let few_exchanges = stay_at_home(&map).filter(|columns| Some(columns) != few_selects.as_ref());
        if few_selects.is_none() && few_exchanges.is_none() && self.reason.is_none() {
            self.reason = Some("threads ask one thread for several words in any order".to_owned());
        }
        let problem = Question { conversion: self.conversion, words: &words, map: &map, moves, xors: self.xors };
        for columns in few_selects.iter().chain(&few_exchanges) {
            if let Some(better) = problem.best(columns, self.most) {
                self.most = self.most.min(slots(&better.counts()));
                self.best = Some(better);
            }
        }
        true
    }

    /// Moves that may come next; a regrouping comes with the swap that it is for.
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
            // Rounds do as much, unless the register bit is swapped next.
            let swapped_next = |&&next: &&u32| {
                self.start(origin, next).is_some_and(|start| start.register == register && !start.direct)
            };
            if direct && !swaps && !is_inner && self.swapped.iter().any(|next| swapped_next(&next)) {
                found.push([Some(Move::Trade { register, lane }), None]);
            }
            // Blends of different bits do not mind their order.
            let in_order = !matches!(
                moves.last(), Some(Move::Blend { register: other, lane: last }) if last > lane && other != register
            );
            if blends && in_order && !is_outer && (direct || taken_in(origin, lane)) {
                found.push([Some(Move::Blend { register, lane }), None]);
            }
        }
        found
    }

    /// Where the path to a lane bit begins: `None` where the lane bit stays, or nothing leads to it.
    fn start(&self, origin: &Origin, lane: u32) -> Option<Start> {
        let mut at = lane;
        for _ in 0..=self.conversion.lane_bits {
            let Position { register, thread } = *origin.of_threads.get(at as usize)?;
            if register != 0 {
                return Some(Start { register: register.trailing_zeros(), direct: at == lane });
            }
            if thread == 0 {
                // The destination has copies there: a register bit that tells copies of the source apart.
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

    /// A register bit that nothing reads: any of the source's, or one past them.
    fn copies(&self, origin: &Origin) -> u32 {
        let past = self.conversion.src.registers.len() as u32;
        let read = used(origin);
        (past..).find(|&bit| read >> bit & 1 == 0).unwrap_or(past)
    }
}

/// Whether the register bit of a move tells only copies apart.
fn tells_copies_apart(origin: &Origin, by: Move) -> bool {
    match by {
        Move::Swap { register, .. } | Move::Trade { register, .. } | Move::Blend { register, .. } => {
            used(origin) >> register & 1 == 0
        }
        Move::Regroup { .. } => false,
    }
}

/// Whether registers hold what comes from lanes with a bit set.
fn taken_in(origin: &Origin, lane: u32) -> bool {
    origin.of_registers.iter().any(|p| p.thread >> lane & 1 == 1)
}

/// Register bits from which anything comes.
fn used(origin: &Origin) -> u64 {
    origin.of_registers.iter().chain(&origin.of_threads).fold(0, |sum, p| sum | p.register)
}
