//! Asynchronous operations of a block in flight: asynchronous copies, bulk copies, operand reads of MMAs; and
//! mbarriers.

use std::collections::VecDeque;

use crate::program::Compute;

/// A bulk copy to shared memory in flight: destination addresses and their data.
#[derive(Debug, Clone, Default)]
pub(super) struct PendingBulkLoad {
    pub(super) pieces: Vec<(u64, Vec<u8>)>,
}

/// A bulk copy from shared to global memory in flight.
#[derive(Default)]
pub(super) struct PendingBulkStore {
    /// Source ranges in shared memory: addresses and numbers of bytes.
    pub(super) from: Vec<(u64, u64)>,
    /// Destination addresses in global memory, and their data.
    pub(super) to: Vec<(u64, Vec<u8>)>,
    /// Computes a new element from the old one and the data of a bulk reduction; `None` if the copy only writes.
    pub(super) update: Option<Compute>,
    /// Whether a wait for the reads (`.read`) has covered this copy, so that its source may be written again.
    pub(super) is_read: bool,
}

/// A lane's groups of bulk copies from shared memory: the committed groups, the oldest first, and the open one.
#[derive(Default)]
pub(crate) struct Groups {
    pub(super) committed: VecDeque<Vec<PendingBulkStore>>,
    pub(super) open: Vec<PendingBulkStore>,
}

impl Groups {
    pub(super) fn clear(&mut self) {
        self.committed.clear();
        self.open.clear();
    }
}

/// An asynchronous copy (`cp.async`) in flight: its destination in shared memory, its data, and the lane that issued
/// it.
#[derive(Debug, Clone)]
pub(super) struct PendingCopy {
    pub(super) address: u64,
    pub(super) bytes: Vec<u8>,
    pub(super) lane: u8,
}

/// A warp's asynchronous copies in flight: the committed groups, the oldest first, and the open group.
#[derive(Debug, Default)]
pub(crate) struct PendingCopies {
    pub(super) committed: Vec<Vec<PendingCopy>>,
    pub(super) open: Vec<PendingCopy>,
}

impl PendingCopies {
    pub(super) fn clear(&mut self) {
        self.committed.clear();
        self.open.clear();
    }
}

/// Ranges of shared memory that a warp's MMAs in flight read: of the committed groups, the oldest first, and of the
/// open group.
#[derive(Debug, Default)]
pub(crate) struct Reads {
    pub(super) committed: VecDeque<Vec<(u64, u64)>>,
    pub(super) open: Vec<(u64, u64)>,
}

impl Reads {
    pub(super) fn clear(&mut self) {
        self.committed.clear();
        self.open.clear();
    }
}

/// State of an mbarrier.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Mbarrier {
    /// Number of arrivals that a phase needs.
    pub(super) expected: u32,
    /// Number of arrivals that the current phase still needs.
    pub(super) pending: u32,
    /// Number of bytes that the current phase still waits for; negative if bytes arrived before they were expected.
    pub(super) bytes: i64,
    /// Number of completed phases.
    pub(super) phase: u64,
}

impl Mbarrier {
    /// Completes the phase, and begins the next one, if no arrival and no byte is missing.
    pub(super) fn settle(&mut self) {
        if self.pending == 0 && self.bytes == 0 {
            self.pending = self.expected;
            self.phase += 1;
        }
    }
}
