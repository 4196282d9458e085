//! Counts the block barriers that are needed to order accesses of tensors in shared memory.

use tilewright_plan::barrier_hazards::HazardTracker;
use tilewright_target::Direction;
use tilewright_tile::{FunctionBody, Value};

use super::accesses::{allocation, buffer_count};

/// The accesses of shared memory since the last block barrier, while a program is walked.
#[derive(Debug, Default)]
pub(super) struct BarrierState {
    /// Whether the walk is in the body of a pipelined loop.
    pub is_pipelined: bool,
    hazards: HazardTracker<Value>,
}

impl BarrierState {
    pub(super) fn pass_barrier(&mut self) {
        self.hazards.clear_at_barrier();
    }

    /// Returns the number of block barriers (0 or 1) needed before an access of the tensor `accessed`, and records the
    /// access. Tensors with several buffers need none: the barrier of their pipelined loop protects them.
    pub(super) fn count_barriers_before(&mut self, body: &FunctionBody, accessed: Value, direction: Direction) -> u64 {
        if buffer_count(body, accessed).is_some() {
            return 0;
        }
        let tensor = allocation(body, accessed);
        let is_hazard = self.hazards.needs_barrier(direction, |other| *other == tensor);
        if is_hazard {
            self.pass_barrier();
        }
        self.hazards.record_access(direction, [tensor]);
        u64::from(is_hazard)
    }
}
