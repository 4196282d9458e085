//! What has been done to buffers since the block last met.

use std::collections::BTreeSet;

use super::told::Access;

type Buffers = BTreeSet<u32>;

/// What may have been done since the last barrier of the block.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Since {
    /// Buffers that were touched.
    pub(super) used: Buffers,
    /// Those of a program's own tensors that were read.
    read: Buffers,
    /// Those that were written; by copies where they were waited for.
    written: Buffers,
    /// Those that copies will have written when they are waited for: barriers change nothing of it.
    under_way: Buffers,
}

impl Since {
    /// The block has met.
    pub(super) fn meet(&mut self) {
        *self = Self { under_way: std::mem::take(&mut self.under_way), ..Self::default() };
    }

    /// Whether the block must meet before an access: what one thread writes another reads or writes, or did before.
    pub(super) fn is_hazard(&self, access: Access, buffers: &Buffers) -> bool {
        let meets = |others: &Buffers| access != Access::Apart && !buffers.is_disjoint(others);
        meets(&self.written) || access != Access::Load && meets(&self.read)
    }

    pub(super) fn access(&mut self, access: Access, buffers: &Buffers) {
        let place = match access {
            Access::Load => &mut self.read,
            Access::Store => &mut self.written,
            Access::Copy => &mut self.under_way,
            Access::Apart => return,
        };
        place.extend(buffers);
    }

    /// Copies were waited for: those that have landed were written now, which may be any of them, and all where none is left.
    pub(super) fn wait(&mut self, outstanding: u32) {
        self.written.extend(&self.under_way);
        if outstanding == 0 {
            self.under_way.clear();
        }
    }

    /// What may have been done where this or the other was.
    pub(super) fn or(mut self, other: &Self) -> Self {
        self.used.extend(&other.used);
        self.read.extend(&other.read);
        self.written.extend(&other.written);
        self.under_way.extend(&other.under_way);
        self
    }
}
