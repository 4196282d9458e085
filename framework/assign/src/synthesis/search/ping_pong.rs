//! Exclusive sections of warp groups (*ping-pong*): the MMAs of one warp group run while the others do other work.

use super::Search;
use crate::synthesis::requests::{PING_PONG, PingPongRequest};
use crate::synthesis::tree::Staged;
use tilewright_layout::Dim;
use tilewright_target::{InstructionOperand, Optimization};
use tilewright_tile::Op;
use tilewright_tile::op::name::{tt, tw};
use tilewright_tile::transform::explicit::{ExplicitMemoryChoices, PingPongChoice};

/// Number of named barriers of a loop with a producer warp: of both partitions, and of each.
const PARTITION_BARRIERS: u32 = 3;

impl Search<'_, '_> {
    /// Solves the best leaf (complete choice) again with warp groups that alternate in a loop, once for each dot that
    /// may begin an exclusive section, and keeps the fastest if it is faster, or if the program requests exclusive
    /// sections.
    pub(super) fn try_ping_pong(&mut self, open: &Staged) {
        let request = self.ping_pong_request(open);
        let is_open = request.is_none_or(|request| request == PingPongRequest::WithinTile);
        if !is_open || !self.config.context.enables(Optimization::PingPong) {
            return;
        }
        let is_explicit = request.is_some();
        // The best leaf has a ping-pong that was chosen before its dots and stores.
        if self.best.as_ref().is_some_and(|(_, choices)| choices.ping_pong.contains_key(&open.of.op)) {
            return;
        }
        let ping_pong = self.ping_pong(open);
        let Some((_, choices)) = self.best.as_ref().filter(|_| !ping_pong.is_empty()) else {
            if is_explicit {
                self.reject_ping_pong(open);
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
            self.reject_ping_pong(open);
        }
    }

    /// Returns the request for ping-pong of a loop, or of the innermost loop around it with one; `None` without.
    pub(super) fn ping_pong_request(&self, open: &Staged) -> Option<PingPongRequest> {
        let body = self.module.functions.first()?.body.as_ref()?;
        open.nest().find_map(|of| PingPongRequest::of(body.op(of).attributes.get(PING_PONG)?))
    }

    fn reject_ping_pong(&mut self, open: &Staged) {
        let reason = "several warp groups must issue all its MMAs, with a producer warp, two stages or more, and no other \
                      barrier";
        self.reject_request(open, PING_PONG, reason.to_owned());
    }

    /// Returns the possible exclusive sections of a loop of the best leaf (complete choice): any of its dots may begin
    /// an exclusive section, which lasts to the dot before it, in this iteration or the next. None without a producer
    /// warp, since block barriers would keep the warp groups together; with a single buffer, which a warp group that
    /// waits for its exclusive section still reads; or unless several warp groups issue all MMAs.
    fn ping_pong(&self, open: &Staged) -> Vec<PingPongChoice> {
        let body = self.module.functions.first().and_then(|function| function.body.as_ref());
        let (Some((_, choices)), Some(body)) = (&self.best, body) else { return Vec::new() };
        let of = open.of.op;
        let has_one_group = choices.producers.get(&of).is_some_and(|choice| choice.groups == 1);
        let is_specialized = has_one_group && choices.stages.get(&of) > Some(&1);
        if !is_specialized || choices.overlapped_mmas.contains(&of) {
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
