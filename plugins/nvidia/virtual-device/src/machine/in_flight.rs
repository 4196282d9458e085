//! State of what is under way in a block: asynchronous and bulk copies, reads of matrix multiplications, mbarriers.

use std::collections::VecDeque;

/// A copy to shared memory: addresses there, with what lands.
#[derive(Debug, Clone, Default)]
pub(super) struct Arriving {
    pub(super) pieces: Vec<(u64, Vec<u8>)>,
}

/// A copy from shared memory.
#[derive(Debug, Clone, Default)]
pub(super) struct Leaving {
    /// Addresses in shared memory, with how many bytes.
    pub(super) from: Vec<(u64, u64)>,
    /// Addresses in global memory, with what lands.
    pub(super) to: Vec<(u64, Vec<u8>)>,
    /// Whether what it has read was waited for.
    pub(super) is_read: bool,
}

/// The copies from shared memory that a lane has issued: groups that are closed, the oldest first, and the open one.
#[derive(Debug, Default)]
pub(crate) struct Groups {
    pub(super) rejected: VecDeque<Vec<Leaving>>,
    pub(super) open: Vec<Leaving>,
}

impl Groups {
    pub(super) fn clear(&mut self) {
        self.rejected.clear();
        self.open.clear();
    }
}

/// Bytes on their way.
#[derive(Debug, Clone)]
pub(super) struct Flight {
    pub(super) address: u64,
    pub(super) bytes: Vec<u8>,
    pub(super) lane: u8,
}

/// The copies of a warp that have not landed: the groups that are closed, the oldest first, and the open one.
#[derive(Debug, Default)]
pub(crate) struct Flights {
    pub(super) rejected: Vec<Vec<Flight>>,
    pub(super) open: Vec<Flight>,
}

impl Flights {
    pub(super) fn clear(&mut self) {
        self.rejected.clear();
        self.open.clear();
    }
}

/// Pieces of shared memory that a warp's products read: of groups that are closed, the oldest first, and of the open one.
#[derive(Debug, Default)]
pub(crate) struct Reads {
    pub(super) rejected: VecDeque<Vec<(u64, u64)>>,
    pub(super) open: Vec<(u64, u64)>,
}

impl Reads {
    pub(super) fn clear(&mut self) {
        self.rejected.clear();
        self.open.clear();
    }
}

/// An mbarrier.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Mbarrier {
    /// Arrivals of a phase.
    pub(super) expected: u32,
    /// Arrivals that the current phase still waits for.
    pub(super) pending: u32,
    /// Bytes that are awaited.
    pub(super) bytes: i64,
    /// Phases that have completed.
    pub(super) phase: u64,
}

impl Mbarrier {
    /// Completes the phase where nothing is missing.
    pub(super) fn settle(&mut self) {
        if self.pending == 0 && self.bytes == 0 {
            self.pending = self.expected;
            self.phase += 1;
        }
    }
}
