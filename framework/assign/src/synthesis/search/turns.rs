//! Turns of warp groups (*ping-pong*): the MMAs of one warp group run while the others do other work.

use super::Search;
use crate::synthesis::SynthesisError;
use crate::synthesis::tree::Staged;
use tilewright_layout::Dim;
use tilewright_target::{InstructionOperand, Optimization};
use tilewright_tile::op::name::{tt, tw};
use tilewright_tile::transform::explicit::{ExplicitMemoryChoices, TurnChoice};
use tilewright_tile::{Attribute, Op};

/// Number of named barriers of a loop with a producer warp: of both partitions, and of each.
const PARTITION_BARRIERS: u32 = 3;

/// The attribute of a loop that requests (`true`) or forbids turns.
const PING_PONG: &str = "tw.ping_pong";

impl Search<'_, '_> {
    /// Solves the best leaf (complete choice) again with warp groups that take turns in a loop, once for each dot that
    /// may begin a turn, and keeps the fastest if it is faster, or if the program requests turns.
    pub(super) fn take_turns(&mut self, open: &Staged) {
        let requested = self.is_ping_pong(open.of.op);
        if requested == Some(false) || !self.config.context.enables(Optimization::PingPong) {
            return;
        }
        let is_explicit = requested == Some(true);
        let turns = self.turns(open);
        let Some((_, choices)) = self.best.as_ref().filter(|_| !turns.is_empty()) else {
            return if is_explicit { self.no_turns() } else { () };
        };
        let choices = choices.clone();
        let other = if is_explicit { self.best.take() } else { None };
        for turn in turns {
            self.leaf(&choices.clone().with_turns(open.of.op, turn));
        }
        if self.best.is_none() {
            self.best = other;
            self.no_turns();
        }
    }

    fn is_ping_pong(&self, of: Op) -> Option<bool> {
        let body = self.module.functions.first()?.body.as_ref()?;
        match body.op(of).attributes.get(PING_PONG)? {
            Attribute::Unit => Some(true),
            Attribute::Bool(takes_turns) => Some(*takes_turns),
            _ => None,
        }
    }

    fn no_turns(&mut self) {
        let target = self.config.context.target.name.clone();
        self.refused.get_or_insert(SynthesisError::NoTurns { target });
    }

    /// Returns the possible turns of a loop of the best leaf (complete choice): any of its dots may begin a turn, which
    /// lasts to the dot before it, in this iteration or the next. None without a producer warp, since block barriers
    /// would keep the warp groups together; with a single buffer, which a warp group that waits for its turn still
    /// reads; or unless several warp groups issue all MMAs.
    fn turns(&self, open: &Staged) -> Vec<TurnChoice> {
        let body = self.module.functions.first().and_then(|function| function.body.as_ref());
        let (Some((_, choices)), Some(body)) = (&self.best, body) else { return Vec::new() };
        let of = open.of.op;
        let is_specialized = choices.producers.contains_key(&of) && choices.stages.get(&of) > Some(&1);
        if !is_specialized || choices.overlapped_mmas.contains(&of) || choices.turns.contains_key(&of) {
            return Vec::new();
        }
        let block = body.op(of).regions.first().and_then(|region| body.blocks(*region).first());
        let ops = block.map_or(&[][..], |block| body.ops(*block));
        let dots: Vec<Op> = ops.iter().copied().filter(|op| matches!(body.op(*op).name(), tw::MMA | tt::DOT)).collect();
        let warps: Option<Vec<u32>> = dots.iter().map(|dot| self.warps_of_mma(choices, *dot)).collect();
        let groups = match warps.as_deref() {
            Some([first, others @ ..]) if others.iter().all(|warps| warps == first) => self.config.warps / first,
            _ => return Vec::new(),
        };
        let room = self.config.context.target.limits.named_barriers >= PARTITION_BARRIERS + groups;
        if groups < 2 || !room {
            return Vec::new();
        }
        let turn = |at: usize| TurnChoice { groups, first: dots[at], last: dots[(at + dots.len() - 1) % dots.len()] };
        (0..dots.len()).map(turn).collect()
    }

    /// Returns the number of warps that issue the MMA instruction of a dot together; `None` if one warp issues it.
    fn warps_of_mma(&self, choices: &ExplicitMemoryChoices, dot: Op) -> Option<u32> {
        let name = choices.dots.get(&dot)?.instruction.as_deref()?;
        let instruction = self.config.context.instructions.iter().find(|instruction| instruction.name == name)?;
        let bits = instruction.operands.iter().filter_map(|operand| match operand {
            InstructionOperand::Register { layout, .. } => Some(layout.in_bits(Dim::WARP)),
            _ => None,
        });
        bits.max().filter(|bits| *bits > 0).map(|bits| 1 << bits)
    }
}
