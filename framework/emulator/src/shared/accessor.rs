//! Accesses of memory: the accessor, the last accesses of each byte, and whether two of them race.

use crate::fault::{FaultKind, OtherAccess};
use std::ops::Range;
use tilewright_target::Direction;

pub(super) const SEVERAL_WARPS: u16 = u16::MAX;

pub(super) const SEVERAL_LANES: u8 = u8::MAX;

pub(super) const SEVERAL_BLOCKS: u8 = u8::MAX;

/// How many barriers lie behind a block: of its cluster, from one on, and of its own.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Epoch {
    pub(crate) cluster: u64,
    pub(crate) block: u64,
}

/// An access of a byte. A record of an earlier epoch of the cluster says nothing anymore; one of an
/// earlier epoch of its block says nothing to that block.
#[derive(Clone, Copy, Default)]
pub(crate) struct Record {
    pub(super) epoch: Epoch,
    pub(super) time: u64,
    pub(super) operation: u32,
    pub(super) warp: u16,
    pub(super) lane: u8,
    pub(super) block: u8,
}

impl Record {
    pub(crate) fn warp(&self) -> u16 {
        self.warp
    }

    /// The same place and time, for what an operation did that was issued before.
    pub(crate) fn of_operation(self, issued: Self) -> Self {
        Self { operation: issued.operation, ..self }
    }

    /// Makes it the record of an access that does not come after it, too.
    pub(super) fn join(&mut self, who: &Accessor<'_>) {
        self.block = if self.block == who.block { self.block } else { SEVERAL_BLOCKS };
        self.lane = if self.lane == who.lane { self.lane } else { SEVERAL_LANES };
        self.warp = if self.warp == who.warp { self.warp } else { SEVERAL_WARPS };
    }

    pub(crate) fn by_several_warps(self) -> Self {
        Self { warp: SEVERAL_WARPS, ..self }
    }
}

/// The way by which an access sees shared memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Proxy {
    /// As plain accesses do.
    Plain,
    /// By one of its own: what was stored plainly is seen after a fence only.
    Asynchronous,
}

/// Who accesses.
#[derive(Clone)]
pub(crate) struct Accessor<'a> {
    /// Index of the block in its cluster.
    pub(crate) block: u8,
    pub(crate) epoch: Epoch,
    pub(crate) warp: u16,
    pub(crate) lane: u8,
    /// Number of this access in the program of the warp.
    pub(crate) time: u64,
    /// Accesses of the warp before this time lie before its last barrier.
    pub(crate) barrier: u64,
    pub(crate) operation: u32,
    /// Whether accesses of a warp are seen in the order of its program.
    pub(crate) warp_ordered: bool,
    /// Times of the `then` regions from whose lanes this one has parted.
    pub(crate) parted: &'a [Range<u64>],
    /// By warp of the block, the time before which all accesses come before this one.
    pub(crate) known: &'a [u64],
}

impl Accessor<'_> {
    pub(crate) fn record(&self) -> Record {
        let Self { block, epoch, warp, lane, time, operation, .. } = *self;
        Record { epoch, time, operation, warp, lane, block }
    }

    /// Whether the recorded access comes before this one.
    pub(crate) fn follows(&self, record: &Record) -> bool {
        if record.epoch.cluster != self.epoch.cluster {
            return true;
        }
        if record.block != self.block {
            return false;
        }
        if record.epoch.block != self.epoch.block {
            return true;
        }
        if self.known.get(usize::from(record.warp)).is_some_and(|&time| record.time < time) {
            return true;
        }
        if record.warp != self.warp {
            return false;
        }
        let in_order = record.time < self.time && !self.parted.iter().any(|times| times.contains(&record.time));
        record.time < self.barrier || record.lane == self.lane || (self.warp_ordered && in_order)
    }
}

pub(super) fn race(
    direction: Direction,
    at: usize,
    earlier: Direction,
    record: &Record,
    who: &Accessor<'_>,
) -> FaultKind {
    FaultKind::Race { direction, address: at as u64, other: Box::new(described(earlier, record, who)) }
}

/// A recorded access, as a fault of a later one describes it.
pub(crate) fn described(direction: Direction, record: &Record, who: &Accessor<'_>) -> OtherAccess {
    let elsewhere = record.block != who.block && record.block != SEVERAL_BLOCKS;
    OtherAccess { block: elsewhere.then_some(u32::from(record.block)), ..seen_by_own(direction, record) }
}

/// A recorded access, as its own block sees it.
pub(crate) fn seen_by_own(direction: Direction, record: &Record) -> OtherAccess {
    OtherAccess {
        operation: record.operation as usize,
        text: String::new(),
        direction,
        block: None,
        warp: (record.warp != SEVERAL_WARPS).then_some(u32::from(record.warp)),
        lane: (record.lane != SEVERAL_LANES).then_some(u32::from(record.lane)),
    }
}
