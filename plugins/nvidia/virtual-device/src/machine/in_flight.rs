//! Asynchronous operations of a block in flight: asynchronous copies, bulk copies, operand reads of MMAs; and
//! mbarriers.

use std::collections::VecDeque;

use super::operand::Compute;

/// A bulk copy to shared memory in flight: destination addresses in shared memory, each with its data.
#[derive(Debug, Clone, Default)]
pub(super) struct PendingBulkLoad {
    pub(super) pieces: Vec<(u64, Vec<u8>)>,
}

/// A bulk copy or bulk reduction from shared to global memory in flight.
#[derive(Default)]
pub(super) struct PendingBulkStore {
    /// Source ranges in shared memory: addresses and numbers of bytes.
    pub(super) from: Vec<(u64, u64)>,
    /// Destination addresses in global memory, and their data.
    pub(super) to: Vec<(u64, Vec<u8>)>,
    /// For a bulk reduction, computes the new element from the old one and the copied data; `None` for a plain copy.
    pub(super) update: Option<Compute>,
    /// Whether the lane has waited until the copy has read its source (`.read`), so that the source may be written
    /// again.
    pub(super) is_read: bool,
}

/// A lane's bulk groups of copies from shared memory: the committed groups, the oldest first, and the open group.
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

/// An asynchronous copy (`cp.async`) in flight: its destination address in shared memory, its data, and the lane that
/// issued it.
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

/// Ranges of shared memory (address and number of bytes) that a warp's MMAs in flight read: those of the committed
/// groups, the oldest first, and those of the open group.
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

/// State of an mbarrier (a barrier object in shared memory that counts arrivals and bytes, in successive phases).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Mbarrier {
    /// Number of arrivals that a phase needs.
    pub(super) expected: u32,
    /// Number of arrivals that the current phase still needs.
    pub(super) pending: u32,
    /// Number of bytes that the current phase still waits for; negative if bytes arrived before they were expected.
    pub(super) bytes: i64,
    /// Number of phases that have completed so far.
    pub(super) phase: u64,
}

impl Mbarrier {
    /// Starts the next phase if the current phase has all its arrivals and expected bytes.
    pub(super) fn settle(&mut self) {
        if self.pending == 0 && self.bytes == 0 {
            self.pending = self.expected;
            self.phase += 1;
        }
    }
}
