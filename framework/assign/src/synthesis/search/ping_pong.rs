//! Exclusive sections of warp groups (*ping-pong*): the MMAs of one warp group run while the others do other work.

use super::Search;
use crate::synthesis::SynthesisError;
use crate::synthesis::tree::Staged;
use tilewright_layout::Dim;
use tilewright_target::{InstructionOperand, Optimization};
use tilewright_tile::op::name::{tt, tw};
use tilewright_tile::transform::explicit::{ExplicitMemoryChoices, PingPongChoice};
use tilewright_tile::{Attribute, Op};

/// Number of named barriers of a loop with a producer warp: of both partitions, and of each.
const PARTITION_BARRIERS: u32 = 3;

/// The attribute of a loop that requests (`true`) or forbids exclusive sections.
const PING_PONG: &str = "tw.ping_pong";

impl Search<'_, '_> {
    /// Solves the best leaf (complete choice) again with warp groups that alternate in a loop, once for each dot that
    /// may begin an exclusive section, and keeps the fastest if it is faster, or if the program requests exclusive
    /// sections.
    pub(super) fn try_ping_pong(&mut self, open: &Staged) {
        let requested = self.is_ping_pong(open.of.op);
        if requested == Some(false) || !self.config.context.enables(Optimization::PingPong) {
            return;
        }
        let is_explicit = requested == Some(true);
        let ping_pong = self.ping_pong(open);
        let Some((_, choices)) = self.best.as_ref().filter(|_| !ping_pong.is_empty()) else {
            if is_explicit {
                self.reject_ping_pong();
            }
            return;
        };
        let choices = choices.clone();
        let other = if is_explicit { self.best.take() } else { None };
        for exclusive in ping_pong {
            self.leaf(&choices.clone().with_ping_pong(open.of.op, exclusive));
        }
        if self.best.is_none() {
            self.best = other;
            self.reject_ping_pong();
        }
    }

    fn is_ping_pong(&self, of: Op) -> Option<bool> {
        let body = self.module.functions.first()?.body.as_ref()?;
        match body.op(of).attributes.get(PING_PONG)? {
            Attribute::Unit => Some(true),
            Attribute::Bool(is_requested) => Some(*is_requested),
            _ => None,
        }
    }

    fn reject_ping_pong(&mut self) {
        let target = self.config.context.target.name.clone();
        self.refused.get_or_insert(SynthesisError::NoPingPong { target });
    }

    /// Returns the possible exclusive sections of a loop of the best leaf (complete choice): any of its dots may begin
    /// an exclusive section, which lasts to the dot before it, in this iteration or the next. None without a producer
    /// warp, since block barriers would keep the warp groups together; with a single buffer, which a warp group that
    /// waits for its exclusive section still reads; or unless several warp groups issue all MMAs.
    fn ping_pong(&self, open: &Staged) -> Vec<PingPongChoice> {
        let body = self.module.functions.first().and_then(|function| function.body.as_ref());
        let (Some((_, choices)), Some(body)) = (&self.best, body) else { return Vec::new() };
        let of = open.of.op;
        let is_specialized = choices.producers.contains_key(&of) && choices.stages.get(&of) > Some(&1);
        if !is_specialized || choices.overlapped_mmas.contains(&of) || choices.ping_pong.contains_key(&of) {
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
        let exclusive =
            |at: usize| PingPongChoice { groups, first: dots[at], last: dots[(at + dots.len() - 1) % dots.len()] };
        (0..dots.len()).map(exclusive).collect()
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
