//! The steps of a loop: its trip count, the overlap of its copies, and the exclusive sections of its warp groups.

use super::super::SynthesisError;
use super::super::accesses::buffer_count;
use super::super::implied_barriers::BarrierState;
use super::super::iteration_count::{iteration_count, mean_iteration_count};
use super::super::model::{ModelStep, Pipelining};
use super::super::prefetched::is_load;
use super::WorkCounter;
use tilewright_tile::op::name::{scf, ttg, tw};
use tilewright_tile::op_attrs::{BEGINS_EXCLUSIVE, ENDS_EXCLUSIVE, IS_PENDING};
use tilewright_tile::transform::tile_group_count;
use tilewright_tile::{Attribute, Op, Region, ValueOrigin};

/// The exclusive sections of warp groups in a loop.
#[derive(Debug, Clone, Copy)]
struct ExclusiveSection {
    groups: u64,
    /// Whether an exclusive section lasts from one iteration into the next.
    lasts: bool,
}

impl WorkCounter<'_, '_> {
    /// Returns a loop as one step.
    pub(super) fn for_loop(&self, op: Op, since: &mut BarrierState) -> Result<ModelStep, SynthesisError> {
        let body = self.program.body.op(op).regions[0];
        let ((pipelining, is_pipelined), exclusive) = (self.pipelining(op), self.find_exclusive_section(body));
        since.is_exclusive = exclusive.is_some_and(|section| section.lasts);
        let around = std::mem::replace(&mut since.is_pipelined, is_pipelined);
        since.enter_loop(self.program.body, op);
        // Walk the loop body twice and keep the steps of the second pass, which begins with the hazards that an
        // iteration leaves for the next one.
        self.region(body, since)?;
        let body = self.region(body, since)?;
        (since.is_pipelined, since.is_exclusive) = (around, false);
        let groups = exclusive.map_or(1, |section| section.groups);
        if groups > 1 && has_barrier(&body) {
            return Err(SynthesisError::BarrierInPingPong);
        }
        let pipelining = Pipelining { groups, ..pipelining };
        Ok(ModelStep::Loop { iteration_count: self.iteration_count(op), pipelining, body })
    }

    /// Returns the exclusive sections of warp groups in the body of a loop; `None` if there are none.
    fn find_exclusive_section(&self, region: Region) -> Option<ExclusiveSection> {
        let body = self.program.body;
        let ops = || body.blocks(region).iter().flat_map(|block| body.ops(*block)).map(|op| &body.op(*op).attributes);
        let find = |name| ops().position(|attributes| attributes.get(name).is_some());
        let groups = ops().find_map(|attributes| attributes.get(BEGINS_EXCLUSIVE)?.as_integer())?;
        Some(ExclusiveSection {
            groups: u64::try_from(groups).ok()?,
            lasts: find(ENDS_EXCLUSIVE)? < find(BEGINS_EXCLUSIVE)?,
        })
    }

    fn iteration_count(&self, op: Op) -> u64 {
        match self.launch_info {
            Some(launch_info) => mean_iteration_count(self.program.body, launch_info, op),
            None => iteration_count(self.program.body, self.program.axis_info, op),
        }
    }

    /// Returns how the copies of a loop overlap, and whether the loop is pipelined; a loop around another loop is not.
    /// The number of stages counts the buffers, less one if MMAs in flight still read it; two if loads are prefetched
    /// through registers.
    fn pipelining(&self, op: Op) -> (Pipelining, bool) {
        let body = self.program.body;
        let inside: Vec<Op> = body.op_and_nested_ops(op).into_iter().filter(|inner| *inner != op).collect();
        if inside.iter().any(|op| body.op(*op).name() == scf::FOR) {
            let tile_groups = tile_group_count(body, op).into();
            return (Pipelining { stages: 1, is_filled: false, groups: 1, tile_groups }, false);
        }
        let mut loads = inside.iter().filter(|op| self.prefetched.contains(**op)).peekable();
        if loads.peek().is_some() {
            let is_filled = loads.any(|op| !self.prefetched.is_predicated(*op));
            return (Pipelining { stages: 2, is_filled, groups: 1, tile_groups: 1 }, true);
        }
        let filled = |op: &Op| match body.op(*op).name() {
            ttg::ASYNC_COPY_GLOBAL_TO_LOCAL => body.operand(*op, "result"),
            ttg::LOCAL_STORE => body.operand(*op, "dst"),
            tw::BULK_TENSOR_LOAD => body.operand(*op, "dst"),
            _ => None,
        };
        let buffers = inside.iter().filter_map(|op| buffer_count(body, filled(op)?)).max().unwrap_or(1);
        // A buffer that asynchronous MMAs still read cannot be refilled, so the copies of one iteration less are in
        // flight.
        let is_read = inside.iter().any(|op| self.is_in_flight(*op));
        (Pipelining { stages: buffers - u64::from(is_read), is_filled: false, groups: 1, tile_groups: 1 }, buffers > 1)
    }

    /// Whether an operation is a dot whose MMA overlaps with the next iteration: no operation behind it waits for all
    /// MMAs.
    pub(super) fn is_in_flight(&self, op: Op) -> bool {
        let body = self.program.body;
        let waits_for_all = |op: &Op| {
            let operation = body.op(*op);
            let outstanding = operation.attributes.get("outstanding").and_then(Attribute::as_integer);
            operation.name() == tw::MMA_WAIT && outstanding.unwrap_or(0) == 0
        };
        let block = body.op(op).attributes.get(IS_PENDING).and_then(|_| body.block_of(op));
        block.is_some_and(|block| !body.ops(block).iter().skip_while(|other| **other != op).any(waits_for_all))
    }

    /// Whether an operation before a pipelined loop fills a buffer in place of a load that the loop omits in its last
    /// iterations. The loop counts with all loads, so such an operation does not count. A loop without predicates has
    /// fewer iterations instead, so operations before it count.
    pub(super) fn is_omitted_later(&self, op: Op) -> bool {
        let (body, operation) = (self.program.body, self.program.body.op(op));
        buffer_count(body, operation.operands[1]).is_some()
            && match body.value_origin(operation.operands[0]) {
                ValueOrigin::Result(load, _) if operation.name() == ttg::LOCAL_STORE => {
                    !is_load(body.op(load)) || self.prefetched.is_predicated(load)
                }
                _ => true,
            }
    }
}

/// Whether steps have a block barrier.
fn has_barrier(steps: &[ModelStep]) -> bool {
    steps.iter().any(|step| match step {
        ModelStep::Work(work) => work.barriers > 0,
        ModelStep::Interleaved { parts, .. } => parts.iter().any(|work| work.barriers > 0),
        ModelStep::Loop { body, .. } => has_barrier(body),
    })
}
