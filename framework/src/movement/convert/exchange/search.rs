//! Which moves come before the rounds.
//!
//! Every lane bit that does not stay is the end of a path: what the destination's lanes take along it
//! comes from another lane bit, or from the register bit where the path begins. Exchanging that
//! register bit for the lane bit brings one of them home. All short sequences of such moves are
//! weighed, the rounds alone first.

use super::super::super::Conversion;
use super::super::super::conversion::{Origin, Position};
use super::super::super::price::slots;
use super::moves::{Move, Moves, moved};
use super::rounds::{choose_destinations, stay_at_home};
use super::taking::Question;
use super::words::{WordMap, Words, homely, room};
use super::{Exchanges, WORD_BITS};
use crate::target::TargetDescription;

/// How many sequences of moves are weighed at most.
const MOST_WEIGHED: u32 = 48;
/// How many moves a sequence has at most.
const MOST_MOVES: usize = 4;

struct Search<'a> {
    conversion: &'a Conversion,
    /// Lane bits along which the target swaps.
    swapped: Vec<u32>,
    best: Option<Exchanges>,
    /// Only ways of fewer slots are of use.
    most: f64,
    budget: u32,
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
    let mut search = Search { conversion, swapped, best: None, most, budget: MOST_WEIGHED, reason: None };
    search.visit(origin, &Moves::default());
    let Search { best, reason, .. } = search;
    best.ok_or_else(|| reason.unwrap_or_else(|| format!("takes {most} wavefront slots or more")))
}

impl Search<'_> {
    fn visit(&mut self, origin: &Origin, moves: &Moves) {
        if self.budget == 0 || !self.weigh(origin, moves) || moves.len() >= MOST_MOVES {
            return;
        }
        for step in self.next(origin, moves) {
            let (mut origin, mut moves) = (origin.clone(), moves.clone());
            for one in step.iter().flatten() {
                let copies = self.tells_copies_apart(&origin, *one);
                origin = moved(&origin, *one, copies);
                moves = moves.then(*one);
            }
            self.visit(&origin, &moves);
        }
    }

    /// Weighs rounds after the given moves; false where more moves can only be worse.
    fn weigh(&mut self, origin: &Origin, moves: &Moves) -> bool {
        let Some(words) = Words::new(self.conversion, origin, moves) else { return true };
        let parts = u64::from(self.conversion.element.bits().div_ceil(WORD_BITS));
        if slots(&moves.counts(&words, parts)) >= self.most {
            return false;
        }
        self.budget -= 1;
        let map = WordMap::new(origin, &words);
        let few_selects = choose_destinations(&map);
        let few_exchanges = stay_at_home(&map).filter(|columns| Some(columns) != few_selects.as_ref());
        if few_selects.is_none() && few_exchanges.is_none() && self.reason.is_none() {
            self.reason = Some("threads ask one thread for several words in any order".to_owned());
        }
        let question = Question { conversion: self.conversion, words: &words, map: &map, moves };
        for columns in few_selects.iter().chain(&few_exchanges) {
            if let Some(better) = question.best(columns, self.most) {
                self.most = self.most.min(slots(&better.counts()));
                self.best = Some(better);
            }
        }
        true
    }

    /// Moves that may come next; a regrouping comes with the swap that it is for.
    fn next(&self, origin: &Origin, moves: &Moves) -> Vec<[Option<Move>; 2]> {
        let blends = homely(origin).count_ones() < room(self.conversion.element);
        let mut found = Vec::new();
        if self.swapped.is_empty() && !blends {
            return found;
        }
        for lane in 0..self.conversion.lane_bits {
            let Some(register) = self.start(origin, lane) else { continue };
            let (is_inner, is_outer) = (moves.inner >> register & 1 == 1, moves.outer >> register & 1 == 1);
            if self.swapped.contains(&lane) {
                if !is_inner {
                    found.push([Some(Move::Swap { register, lane }), None]);
                }
                if let (Some(Move::Swap { register: outer, .. }), true, false) = (moves.last(), blends, is_outer) {
                    let regroup = Move::Regroup { inner: register, outer };
                    found.push([Some(regroup), Some(Move::Swap { register: outer, lane })]);
                }
            }
            // Blends along several lane bits do not mind their order.
            let in_order = !matches!(moves.last(), Some(Move::Blend { lane: last, .. }) if last > lane);
            if blends && in_order && !is_outer && register < self.conversion.src.registers.len() as u32 {
                found.push([Some(Move::Blend { register, lane }), None]);
            }
        }
        found
    }

    /// The register bit at which the path to a lane bit begins: one past the source's where the
    /// destination has copies there. `None` where the lane bit stays, or nothing leads to it.
    fn start(&self, origin: &Origin, lane: u32) -> Option<u32> {
        let mut at = lane;
        for _ in 0..=self.conversion.lane_bits {
            let Position { register, thread } = *origin.of_threads.get(at as usize)?;
            if register != 0 {
                return Some(register.trailing_zeros());
            }
            if thread == 0 {
                let wanted = origin.of_registers.iter().any(|p| p.thread >> lane & 1 == 1);
                return (wanted && at == lane).then_some(self.copies(origin));
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

    fn tells_copies_apart(&self, origin: &Origin, by: Move) -> bool {
        match by {
            Move::Swap { register, .. } | Move::Blend { register, .. } => used(origin) >> register & 1 == 0,
            Move::Regroup { .. } => false,
        }
    }
}

/// Register bits from which anything comes.
fn used(origin: &Origin) -> u64 {
    origin.of_registers.iter().chain(&origin.of_threads).fold(0, |sum, p| sum | p.register)
}
