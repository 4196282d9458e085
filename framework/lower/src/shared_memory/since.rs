//! What has been done to buffers since the block last met.

use std::collections::BTreeSet;

use super::told::{Access, Accessed, Part};

type Buffers = BTreeSet<u32>;

/// Buffers, each with the part of it that is known.
type Parts = BTreeSet<(u32, Option<Part>)>;

/// What may have been done since the last barrier of the block.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Since {
    /// Buffers that were touched.
    pub(super) used: Buffers,
    /// Those of a program's own tensors that were read.
    read: Parts,
    /// Those that were written; by copies where they were waited for.
    written: Parts,
    /// Those that copies will have written when they are waited for: barriers change nothing of it.
    under_way: Buffers,
    /// Those that products read until they are waited for.
    reading: Buffers,
}

impl Since {
    /// The block has met.
    pub(super) fn meet(&mut self) {
        let (under_way, reading) = (std::mem::take(&mut self.under_way), std::mem::take(&mut self.reading));
        *self = Self { under_way, reading, ..Self::default() };
    }

    /// Whether the block must meet before an access: what one thread writes another reads or writes, or did before.
    pub(super) fn is_hazard(&self, accessed: &Accessed) -> bool {
        let apart = |other: &Option<Part>| match (accessed.part, other) {
            (Some(own), Some(other)) => own.number == other.number && own.flipped != other.flipped,
            _ => false,
        };
        let meets = |others: &Parts| {
            accessed.access != Access::Apart
                && others.iter().any(|(buffer, part)| accessed.buffers.contains(buffer) && !apart(part))
        };
        meets(&self.written) || !matches!(accessed.access, Access::Load | Access::Read) && meets(&self.read)
    }

    pub(super) fn access(&mut self, accessed: &Accessed) {
        let parts = accessed.buffers.iter().map(|&buffer| (buffer, accessed.part));
        match accessed.access {
            Access::Load => self.read.extend(parts),
            Access::Store => self.written.extend(parts),
            Access::Read => self.reading.extend(&accessed.buffers),
            Access::Copy => self.under_way.extend(&accessed.buffers),
            Access::Apart => {}
        }
    }

    /// Copies were waited for: those that have landed were written now, which may be any of them, and all where none is left.
    pub(super) fn wait(&mut self, outstanding: u32) {
        self.written.extend(self.under_way.iter().map(|&buffer| (buffer, None)));
        if outstanding == 0 {
            self.under_way.clear();
        }
    }

    /// A turn ends: values of the program are others in the next one, so that nothing says anymore which part was meant.
    pub(super) fn turned(mut self) -> Self {
        for parts in [&mut self.read, &mut self.written] {
            *parts = parts.iter().map(|&(buffer, _)| (buffer, None)).collect();
        }
        self
    }

    /// Products were waited for: what they read was read until now.
    pub(super) fn wait_for_products(&mut self, outstanding: u32) {
        self.read.extend(self.reading.iter().map(|&buffer| (buffer, None)));
        if outstanding == 0 {
            self.reading.clear();
        }
    }

    /// What may have been done where this or the other was.
    pub(super) fn or(mut self, other: &Self) -> Self {
        self.used.extend(&other.used);
        self.read.extend(&other.read);
        self.written.extend(&other.written);
        self.under_way.extend(&other.under_way);
        self.reading.extend(&other.reading);
        self
    }
}
