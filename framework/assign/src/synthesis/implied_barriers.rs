//! Counts the block barriers that are needed to order accesses of tensors in shared memory.

use std::collections::HashMap;

use tilewright_plan::barrier_hazards::HazardTracker;
use tilewright_target::Direction;
use tilewright_tile::op::name::ttg;
use tilewright_tile::{FunctionBody, Op, Value};

use super::accesses::{allocation, buffer_count};

/// The accesses of shared memory since the last block barrier, while a program is walked.
#[derive(Debug)]
pub(super) struct BarrierState {
    /// Whether the walk is in the body of a pipelined loop.
    pub is_pipelined: bool,
    /// Whether the walk is within the exclusive section of a warp group.
    pub is_exclusive: bool,
    /// Whether the program states barriers, as pipelined loops do: they protect the tensors with several buffers.
    states_barriers: bool,
    /// The allocation of each buffer that a loop carries.
    carried: HashMap<Value, Value>,
    hazards: HazardTracker<Value>,
}

impl BarrierState {
    pub(super) fn new(body: &FunctionBody) -> Self {
        let states_barriers = body.walk_region(body.root()).iter().any(|op| body.op(*op).name() == ttg::BARRIER);
        Self {
            is_pipelined: false,
            is_exclusive: false,
            states_barriers,
            carried: HashMap::new(),
            hazards: HazardTracker::default(),
        }
    }

    pub(super) fn pass_barrier(&mut self) {
        self.hazards.clear_at_barrier();
    }

    /// Records which allocations the iteration arguments and the results of the loop `op` are buffers of.
    pub(super) fn enter_loop(&mut self, body: &FunctionBody, op: Op) {
        let operation = body.op(op);
        let Some(block) = operation.regions.first().and_then(|region| body.blocks(*region).first()) else { return };
        for (at, initial) in operation.operands.iter().skip(3).enumerate() {
            let allocation = self.find_allocation(body, *initial);
            for value in body.arguments(*block).get(1 + at).into_iter().chain(operation.results.get(at)) {
                self.carried.insert(*value, allocation);
            }
        }
    }

    fn find_allocation(&self, body: &FunctionBody, buffer: Value) -> Value {
        let found = allocation(body, buffer);
        self.carried.get(&found).copied().unwrap_or(found)
    }

    /// Returns the number of block barriers (0 or 1) needed before an access of the tensor `accessed`, and records the
    /// access. As in Triton's analysis, an index into several buffers may select any of them.
    pub(super) fn count_barriers_before(&mut self, body: &FunctionBody, accessed: Value, direction: Direction) -> u64 {
        let tensor = self.find_allocation(body, accessed);
        if self.states_barriers && (tensor != allocation(body, accessed) || buffer_count(body, accessed).is_some()) {
            return 0;
        }
        let is_hazard = self.hazards.needs_barrier(direction, |other| *other == tensor);
        if is_hazard {
            self.pass_barrier();
        }
        self.hazards.record_access(direction, [tensor]);
        u64::from(is_hazard)
    }

    /// Returns the number of block barriers (0 or 1) after a wait for asynchronous copies, by which all warps see what
    /// each has waited for.
    pub(super) fn count_barriers_after_wait(&mut self) -> u64 {
        let is_needed = !self.states_barriers && self.hazards.needs_barrier(Direction::Load, |_| true);
        if is_needed {
            self.pass_barrier();
        }
        u64::from(is_needed)
    }
}
