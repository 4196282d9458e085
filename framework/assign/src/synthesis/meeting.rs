//! Where the block meets because one access of a tensor in shared memory must come after another.

use std::collections::BTreeSet;

use super::accesses::{buffer_count, whole};
use tilewright_target::Direction;
use tilewright_tile::{Body, Value};

/// What was done with tensors in shared memory since the block met, and where that is.
#[derive(Debug, Default)]
pub(super) struct Since {
    /// Whether it is a turn of a loop that copies ahead.
    pub ahead: bool,
    written: BTreeSet<Value>,
    read: BTreeSet<Value>,
}

impl Since {
    pub(super) fn meet(&mut self) {
        self.written.clear();
        self.read.clear();
    }

    /// How often the block meets before a tensor is accessed. Buffers that a loop goes round are kept apart by its own meeting.
    pub(super) fn meets_before(&mut self, body: &Body, accessed: Value, direction: Direction) -> u64 {
        if buffer_count(body, accessed).is_some() {
            return 0;
        }
        let tensor = whole(body, accessed);
        let meets = match direction {
            Direction::Load => self.written.contains(&tensor),
            Direction::Store => self.read.contains(&tensor),
        };
        if meets {
            self.meet();
        }
        match direction {
            Direction::Load => self.read.insert(tensor),
            Direction::Store => self.written.insert(tensor),
        };
        u64::from(meets)
    }
}
