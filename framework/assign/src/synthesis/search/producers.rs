//! Producer warps of a loop: an extra warp that issues its bulk tensor copies, and that may hand registers over to the
//! consumer warps.

use super::Search;
use crate::synthesis::SynthesisError;
use crate::synthesis::tree::Staged;
use tilewright_target::{Optimization, RegisterReallocation};
use tilewright_tile::Op;
use tilewright_tile::transform::explicit::{ExplicitMemoryChoices, ProducerChoice, TensorMapTileAddress};

/// Number of named barriers for two warp groups: one for each group, and one for both.
const GROUP_BARRIERS: u32 = 3;

impl Search<'_, '_> {
    /// Solves the best leaf (complete choice) again with a producer warp that issues the bulk tensor copies of a loop.
    /// It is kept if it is faster, or if the program requests it.
    pub(super) fn producers(&mut self, open: &Staged) {
        let is_pipelined = self.options.task_mapping && self.options.pipeline;
        if open.produced == Some(false) || !is_pipelined {
            return;
        }
        let is_explicit = open.produced == Some(true);
        let limits = &self.config.context.target.limits;
        let lanes = (self.config.warps + 1).saturating_mul(self.config.lanes);
        let room = limits.named_barriers >= GROUP_BARRIERS && lanes <= limits.lanes_per_block;
        let covers_loop = |copies: &[(Op, TensorMapTileAddress)]| {
            open.of.copies.iter().all(|copy| copies.iter().any(|(other, _)| other == copy))
        };
        match self.with_tensor_copies(&open.of).filter(|(_, tensor_copies)| room && covers_loop(tensor_copies)) {
            Some((mut choices, tensor_copies)) => {
                choices.tensor_copies.extend(tensor_copies);
                let consumers = self.config.warps;
                choices.producers.insert(open.of.op, ProducerChoice { consumers, registers: None });
                let other = if is_explicit { self.best.take() } else { None };
                self.leaf(&choices);
                self.try_reallocation(open, &choices);
                if self.best.is_none() {
                    self.best = other;
                    self.not_produced();
                }
            }
            None if is_explicit => self.not_produced(),
            None => {}
        }
    }

    fn not_produced(&mut self) {
        let target = self.config.context.target.name.clone();
        self.refused.get_or_insert(SynthesisError::NoProducers { target });
    }

    /// Solves the leaf (complete choice) `choices`, whose loop `open` has a producer warp, again with a producer that
    /// hands its registers over, and keeps it if it is faster. It is tried if more blocks are then resident, or if a
    /// lane of the only resident block needs more registers than it gets otherwise.
    fn try_reallocation(&mut self, open: &Staged, choices: &ExplicitMemoryChoices) {
        let context = &self.config.context;
        let change = context.target.limits.register_reallocation;
        let Some(change) = change.filter(|_| context.enables(Optimization::RegisterReallocation)) else { return };
        let is_chosen = |choice: &ProducerChoice| choice.registers.is_some();
        let before = self.best.take();
        let Some((best, _)) = before.as_ref().filter(|(_, best)| !best.producers.values().any(is_chosen)) else {
            self.best = before;
            return;
        };
        let cycles = best.prediction.cycles;
        if let Some(registers) = self.reallocated(best.prediction.registers, change) {
            let mut choices = choices.clone();
            let consumers = self.config.warps;
            choices.producers.insert(open.of.op, ProducerChoice { consumers, registers: Some(registers) });
            // With more resident blocks, each may have to do with fewer stages.
            self.leaf_that_fits(&choices);
            self.tune_stages(open);
        }
        if self.best_cycles().is_none_or(|found| found >= cycles) {
            self.best = before;
        }
    }

    /// Returns the registers of a lane of the consumer warps and of the producer warp, if `needed` registers of a
    /// consumer's lane permit more resident blocks than without the change, or if one block has fewer otherwise. The
    /// consumers get all registers that remain for this number of blocks.
    fn reallocated(&self, needed: u64, change: RegisterReallocation) -> Option<[u32; 2]> {
        let (lanes, consumers) = (self.config.lanes, self.config.warps);
        let target = self.config.context.target;
        let all = (consumers + 1).next_multiple_of((change.lanes / lanes).max(1));
        if !(consumers * lanes).is_multiple_of(change.lanes) || lanes * all > target.limits.lanes_per_block {
            return None;
        }
        let (most, unit) = (target.limits.registers_per_lane, target.throughput.as_ref()?);
        let down = |count: u32| count / change.step * change.step;
        // The registers of all lanes at the launch, for blocks of this number of warps.
        let equal = |blocks: u32, warps: u32| {
            down((unit.registers_per_lane((blocks * warps).into(), lanes.into()) as u32).min(most))
        };
        let before = |blocks: u32| equal(blocks, consumers + 1);
        let reallocated = |blocks: u32| {
            let of_producers = change.least * (all - consumers);
            let left = (equal(blocks, all) * all).saturating_sub(of_producers) / consumers;
            down(left.min(change.most).min(most))
        };
        let most_blocks = |registers: &dyn Fn(u32) -> u32| {
            (1..).take_while(|&blocks| u64::from(registers(blocks)) >= needed.max(1)).last().unwrap_or(1)
        };
        let (blocks, own) = (most_blocks(&reallocated), reallocated(most_blocks(&reallocated)));
        let has_more = blocks == 1 && needed > u64::from(before(1)) && own > before(1);
        (blocks > most_blocks(&before) || has_more).then_some([own, change.least])
    }
}
