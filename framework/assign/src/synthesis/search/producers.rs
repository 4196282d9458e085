//! Producer warps of a loop: an extra warp that issues its bulk tensor copies, and that may hand registers over to the
//! consumer warps.

use super::Search;
use crate::producer_warps::{WARP_SPECIALIZE, has_room_for_producer, reallocated_registers, requested_producer};
use crate::synthesis::SynthesisError;
use crate::synthesis::leaf::of_tensors;
use crate::synthesis::tree::Staged;
use tilewright_target::Optimization;
use tilewright_tile::Op;
use tilewright_tile::transform::explicit::{ExplicitMemoryChoices, ProducerChoice, TensorMapTileAddress};

impl Search<'_, '_> {
    /// Solves the best leaf (complete choice) again with a producer warp that issues the bulk tensor copies of a loop.
    /// It is kept if it is faster, or if the program requests it. One loop of a nest has a producer warp; a request on
    /// a loop around several is one for any of these.
    pub(super) fn producers(&mut self, open: &Staged) {
        let is_pipelined = self.options.task_mapping && self.options.pipeline;
        let is_enabled = self.config.context.enables(Optimization::ProducerWarps);
        if open.produced == Some(false) || !is_pipelined || !is_enabled {
            return;
        }
        let is_explicit = open.produced == Some(true);
        if self.nest_has_producer(open) {
            if is_explicit && self.requests_producer(open) {
                self.reject_producer(open);
            }
            return;
        }
        match self.with_producer(open, 1) {
            Some(choices) => {
                let other = if is_explicit { self.best.take() } else { None };
                self.leaf_that_fits(&choices);
                self.try_reallocation(open, &choices);
                if self.best.is_none() {
                    self.best = other;
                    if self.is_last_of_nest(open) {
                        self.reject_producer(open);
                    }
                }
            }
            None if is_explicit && self.is_last_of_nest(open) => self.reject_producer(open),
            None => {}
        }
    }

    /// Whether the best leaf (complete choice) has a producer warp in another loop of the nest of `open`: of the loops
    /// in the same outermost loop.
    fn nest_has_producer(&self, open: &Staged) -> bool {
        let choices = self.best.as_ref().map(|(_, choices)| choices);
        let has_producer = |of: Op| choices.is_some_and(|choices| choices.producers.contains_key(&of));
        let others = self.tree.loops.iter().filter(|other| other.of.op != open.of.op);
        others.filter(|other| other.outermost() == open.outermost()).any(|other| has_producer(other.of.op))
    }

    /// Whether the program requests a producer warp at the loop itself, not at a loop around it.
    fn requests_producer(&self, open: &Staged) -> bool {
        let body = self.module.functions.first().and_then(|function| function.body.as_ref());
        body.is_some_and(|body| requested_producer(body, [open.of.op]) == Some(true))
    }

    /// Whether no loop of the nest of `open` is still to be tried, or the program requests the producer warp of `open`
    /// itself.
    fn is_last_of_nest(&self, open: &Staged) -> bool {
        let outermost = open.outermost();
        let last = self.tree.loops.iter().rfind(|other| other.outermost() == outermost);
        self.requests_producer(open) || last.is_none_or(|last| last.of.op == open.of.op)
    }

    /// Returns the choices of the best leaf (complete choice) with a producer warp for a loop, and `groups` groups of
    /// consumers; `None` if the block has no room for them, or not all copies of the loop can be bulk tensor copies.
    pub(super) fn with_producer(&self, open: &Staged, groups: u32) -> Option<ExplicitMemoryChoices> {
        let room = has_room_for_producer(groups, self.config);
        let covers_loop = |copies: &[(Op, TensorMapTileAddress)]| {
            open.of.copies.iter().all(|copy| copies.iter().any(|(other, _)| other == copy))
        };
        let found = self.with_tensor_copies(&open.of).filter(|(_, tensor_copies)| room && covers_loop(tensor_copies));
        let (mut choices, tensor_copies) = found?;
        choices.tensor_copies.extend(tensor_copies);
        let choice = ProducerChoice { consumers: self.config.warps, groups, registers: None };
        choices.producers.insert(open.of.op, choice);
        Some(choices)
    }

    fn reject_producer(&mut self, open: &Staged) {
        let reason = "all its copies to shared memory must be bulk tensor copies that complete on mbarriers, in at least \
                      two stages, the block needs one more warp, and one loop of a nest has a producer warp";
        self.reject_request(open, WARP_SPECIALIZE, reason.to_owned());
    }

    /// Records that no leaf (complete choice) satisfies the request `request` of a loop or of one around it, with the
    /// reason why a producer warp cannot execute the loops around it, or else `reason`.
    pub(super) fn reject_request(&mut self, open: &Staged, request: &'static str, reason: String) {
        let function = self.module.functions.first();
        let tensors = function.map_or_else(String::new, |function| of_tensors(function, &open.of));
        let reason = open.of.enclosing.as_ref().err().map_or(reason, |why| format!("no producer warp: {why}"));
        let target = self.config.context.target.name.clone();
        self.refused.get_or_insert(SynthesisError::Request { request, tensors, target, reason });
    }

    /// Solves the leaf (complete choice) `choices`, whose loop `open` has a producer warp, again with a producer that
    /// hands its registers over, and keeps it if it is faster. It is tried if more blocks are then resident, or if a
    /// lane of the only resident block needs more registers than it gets otherwise.
    pub(super) fn try_reallocation(&mut self, open: &Staged, choices: &ExplicitMemoryChoices) {
        let is_chosen = |choice: &ProducerChoice| choice.registers.is_some();
        let before = self.best.take();
        let Some((best, _)) = before.as_ref().filter(|(_, best)| !best.producers.values().any(is_chosen)) else {
            self.best = before;
            return;
        };
        let cycles = best.prediction.cycles;
        let groups = choices.producers.get(&open.of.op).map_or(1, |choice| choice.groups);
        if let Some(registers) = reallocated_registers(best.prediction.registers, groups, self.config) {
            let mut choices = choices.clone();
            choices.producers.entry(open.of.op).and_modify(|choice| choice.registers = Some(registers));
            // With more resident blocks, each may have to do with fewer stages.
            self.leaf_that_fits(&choices);
            self.tune_stages(open);
        }
        if self.best_cycles().is_none_or(|found| found >= cycles) {
            self.best = before;
        }
    }
}
