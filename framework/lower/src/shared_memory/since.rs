//! The accesses of buffers since the last barrier of the block.

use std::collections::BTreeSet;

use tilewright_plan::barrier_hazards::BarrierHazards;
use tilewright_target::Direction;

use super::annotations::{Access, Accessed, Part};

type Buffers = BTreeSet<u32>;

/// What may have been done since the last barrier of the block.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Since {
    /// Buffers that were touched.
    pub(super) used: Buffers,
    /// Accesses of a program's own tensors, each with the part of it that is known; copies once they were waited for.
    hazards: BarrierHazards<(u32, Option<Part>)>,
    /// Buffers that copies will have written when they are waited for: barriers change nothing of it.
    under_way: Buffers,
    /// Buffers that products read until they are waited for.
    reading: Buffers,
}

impl Since {
    /// The block has met.
    pub(super) fn meet(&mut self) {
        self.used.clear();
        self.hazards.pass_barrier();
    }

    /// Whether the block must meet before an access: what one thread writes another reads or writes, or did before.
    pub(super) fn is_hazard(&self, accessed: &Accessed) -> bool {
        let apart = |other: &Option<Part>| match (accessed.part, other) {
            (Some(own), Some(other)) => own.number == other.number && own.flipped != other.flipped,
            _ => false,
        };
        let direction = match accessed.access {
            Access::Apart => return false,
            Access::Load | Access::Read => Direction::Load,
            Access::Store | Access::Copy => Direction::Store,
        };
        self.hazards.needs_barrier(direction, |(buffer, part)| accessed.buffers.contains(buffer) && !apart(part))
    }

    pub(super) fn access(&mut self, accessed: &Accessed) {
        let parts = accessed.buffers.iter().map(|&buffer| (buffer, accessed.part));
        match accessed.access {
            Access::Load => self.hazards.access(Direction::Load, parts),
            Access::Store => self.hazards.access(Direction::Store, parts),
            Access::Read => self.reading.extend(&accessed.buffers),
            Access::Copy => self.under_way.extend(&accessed.buffers),
            Access::Apart => {}
        }
    }

    /// Copies were waited for: those that have landed were written now, which may be any of them, and all if none is left.
    pub(super) fn wait(&mut self, outstanding: u32) {
        self.hazards.access(Direction::Store, self.under_way.iter().map(|&buffer| (buffer, None)));
        if outstanding == 0 {
            self.under_way.clear();
        }
    }

    /// Products were waited for: what they read was read until now.
    pub(super) fn wait_for_products(&mut self, outstanding: u32) {
        self.hazards.access(Direction::Load, self.reading.iter().map(|&buffer| (buffer, None)));
        if outstanding == 0 {
            self.reading.clear();
        }
    }

    /// A turn ends: values of the program are others in the next one, so that nothing says anymore which part was meant.
    pub(super) fn turned(self) -> Self {
        Self { hazards: self.hazards.renamed(|(buffer, _)| (buffer, None)), ..self }
    }

    /// What may have been done where this or the other was.
    pub(super) fn or(mut self, other: &Self) -> Self {
        self.used.extend(&other.used);
        self.hazards.join(&other.hazards);
        self.under_way.extend(&other.under_way);
        self.reading.extend(&other.reading);
        self
    }
}
