//! The steps and the registers of warp-specialized partitions.

use super::super::SynthesisError;
use super::super::accesses::buffer_count;
use super::super::implied_barriers::BarrierState;
use super::super::model::{ModelStep, Pipelining, StepWork};
use super::{GROUPS, WorkCounter};
use tilewright_tile::op::name::{scf, tw};
use tilewright_tile::transform::tile_group_count;
use tilewright_tile::{Attribute, Op};

impl WorkCounter<'_, '_> {
    /// Returns the number of registers of a lane: if producers hand theirs over, the mean, with which the block is
    /// launched.
    pub(super) fn registers_per_lane(&self) -> u64 {
        let Some([own, of_producers]) = self.partition_registers() else { return self.pressure.registers() };
        let consumers = self.tile_groups() * u64::from(self.program.config.warps);
        let all = u64::from(self.program.config.warps) + self.other_warps();
        (own * consumers + of_producers * (all - consumers)).div_ceil(all)
    }

    /// Returns the numbers in an attribute of each operation with partitions of warps.
    fn partition_numbers(&self, name: &str) -> Vec<Vec<u64>> {
        let body = self.program.body;
        let groups = body.walk_region(body.root()).into_iter().filter(|op| body.op(*op).name() == GROUPS);
        let numbers = groups.filter_map(|op| match body.op(op).attributes.get(name) {
            Some(Attribute::Array(_, numbers)) => Some(numbers.clone()),
            _ => None,
        });
        numbers.collect()
    }

    /// Returns the number of groups of consumer warps that alternate between the iterations of a loop; 1 without.
    fn tile_groups(&self) -> u64 {
        let body = self.program.body;
        let all = body.walk_region(body.root()).into_iter().filter(|op| body.op(*op).name() == scf::FOR);
        all.map(|op| u64::from(tile_group_count(body, op))).max().unwrap_or(1)
    }

    /// Returns the number of warps of a block besides those of the launch: producer warps, which only issue copies, with
    /// the idle warps that complete the warp group of producers that hand registers over, and other groups of consumers.
    pub(super) fn other_warps(&self) -> u64 {
        let config = self.program.config;
        let partitions = self.partition_numbers("partitionNumWarps");
        let warps = partitions.iter().map(|warps| warps.iter().sum()).max().unwrap_or(0);
        let change = config.context.target.limits.register_reallocation;
        match change.filter(|_| self.partition_registers().is_some()) {
            Some(change) => {
                let (consumers, together) = (u64::from(config.warps), (change.lanes / config.lanes).max(1));
                (consumers + warps).next_multiple_of(together.into()) - consumers
            }
            None => warps,
        }
    }

    /// Returns the registers of a lane of the consumer warps, and of the producer warps, if these hand registers over.
    pub(super) fn partition_registers(&self) -> Option<[u64; 2]> {
        let numbers = self.partition_numbers("actualRegisters");
        numbers.into_iter().find_map(|numbers| Some([*numbers.first()?, *numbers.last()?]))
    }

    /// Returns the steps of warp-specialized partitions: those of the default partition, whose loop also gets the
    /// copies that producer warps issue for it. One barrier before and one after synchronize all warps. `since` has the
    /// accesses of shared memory since the last block barrier.
    pub(super) fn groups(&self, op: Op, since: &mut BarrierState) -> Result<Vec<ModelStep>, SynthesisError> {
        let body = self.program.body;
        let Some((first, others)) = body.op(op).regions.split_first() else { return Ok(Vec::new()) };
        since.pass_barrier();
        let mut steps = self.region(*first, since)?;
        since.pass_barrier();
        let is_box = |op: &Op| body.op(*op).name() == tw::BULK_TENSOR_LOAD;
        let tensor_copies: Vec<Op> =
            others.iter().flat_map(|region| body.walk_region(*region)).filter(is_box).collect();
        let brought = tensor_copies
            .iter()
            .map(|op| ModelStep::Work(StepWork { produced: true, ..self.bulk_tensor_copy(*op, "dst") }));
        let inside = || body.walk_region(*first).into_iter();
        let buffers =
            tensor_copies.iter().filter_map(|op| buffer_count(body, body.operand(*op, "dst")?)).max().unwrap_or(1);
        // A buffer that asynchronous MMAs still read cannot be refilled, so the copies of one iteration less are in
        // flight.
        let stages = buffers - u64::from(inside().any(|op| self.is_in_flight(op)));
        let first = steps.iter_mut().find_map(innermost_loop);
        if let Some((pipelining, body, is_nested)) = first {
            body.extend(brought.clone());
            // In a nest, the producer fills buffers while consumers execute what is between two loops: only the first
            // loop waits for its first copies.
            *pipelining = Pipelining { stages, is_filled: is_nested, ..*pipelining };
            let wait = StepWork { global_accesses: 1, produced: true, ..StepWork::default() };
            steps.extend(is_nested.then_some(ModelStep::Work(wait)));
        }
        steps.push(ModelStep::Work(StepWork { barriers: 2, ..StepWork::default() }));
        Ok(steps)
    }
}

/// Returns how the copies of the first innermost loop of a step overlap, its body, and whether another loop is around
/// it; `None` without a loop.
fn innermost_loop(step: &mut ModelStep) -> Option<(&mut Pipelining, &mut Vec<ModelStep>, bool)> {
    let ModelStep::Loop { pipelining, body, .. } = step else { return None };
    let nested = body.iter().position(|step| matches!(step, ModelStep::Loop { .. }));
    match nested {
        Some(index) => innermost_loop(&mut body[index]).map(|(pipelining, body, _)| (pipelining, body, true)),
        None => Some((pipelining, body, false)),
    }
}
