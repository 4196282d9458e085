//! The barriers that a program takes because one access of a tensor in shared memory must come after another.

use tilewright_plan::barrier_hazards::BarrierHazards;
use tilewright_target::Direction;
use tilewright_tile::{Body, Value};

use super::accesses::{buffer_count, whole};

/// What was done with tensors in shared memory since the block met, and where that is.
#[derive(Debug, Default)]
pub(super) struct Since {
    /// Whether it is a turn of a loop that copies ahead.
    pub ahead: bool,
    hazards: BarrierHazards<Value>,
}

impl Since {
    pub(super) fn meet(&mut self) {
        self.hazards.pass_barrier();
    }

    /// How often the block meets before a tensor is accessed. Buffers that a loop goes round are kept apart by its own meeting.
    pub(super) fn meets_before(&mut self, body: &Body, accessed: Value, direction: Direction) -> u64 {
        if buffer_count(body, accessed).is_some() {
            return 0;
        }
        let tensor = whole(body, accessed);
        let meets = self.hazards.needs_barrier(direction, |other| *other == tensor);
        if meets {
            self.meet();
        }
        self.hazards.access(direction, [tensor]);
        u64::from(meets)
    }
}
