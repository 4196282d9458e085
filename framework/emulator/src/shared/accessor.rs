//! Accesses of shared memory: the accessor, the record of each byte's latest accesses, and the race rule.

use crate::fault::{EarlierConflictingAccess, FaultKind};
use std::ops::Range;
use tilewright_target::Direction;

pub(super) const SEVERAL_WARPS: u16 = u16::MAX;

pub(super) const SEVERAL_LANES: u8 = u8::MAX;

pub(super) const SEVERAL_BLOCKS: u8 = u8::MAX;

/// The numbers of barriers passed so far: those of the cluster (counted from one) and those of the block.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Epoch {
    pub(crate) cluster: u64,
    pub(crate) block: u64,
}

/// The record of an access of a byte: its block, warp, lane, operation and time. [`Accessor::follows`] decides which
/// later accesses are ordered after it.
#[derive(Clone, Copy, Default, PartialEq)]
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

    /// Returns this record with the operation of the record `issued`. This record was made when an asynchronous
    /// operation completed, `issued` when the operation was issued, so faults name the operation and not the wait.
    pub(crate) fn of_operation(self, issued: Self) -> Self {
        Self { operation: issued.operation, ..self }
    }

    /// Merges this record with the access by `who`, which is not ordered after this record: later accesses must then be
    /// ordered after both.
    pub(super) fn join(&mut self, who: &Accessor<'_>) {
        self.block = if self.block == who.block { self.block } else { SEVERAL_BLOCKS };
        self.lane = if self.lane == who.lane { self.lane } else { SEVERAL_LANES };
        self.warp = if self.warp == who.warp { self.warp } else { SEVERAL_WARPS };
    }

    /// Whether both records are of one access of a warp, by whichever lanes.
    pub(crate) fn is_of(&self, other: &Self) -> bool {
        (self.block, self.warp, self.time) == (other.block, other.warp, other.time)
    }

    /// Whether `who` makes the access with the same position in program order, perhaps in another warp.
    pub(crate) fn is_alike(&self, who: &Accessor<'_>) -> bool {
        (self.operation, self.time) == (who.operation, who.time)
    }

    /// Whether this record is of an earlier access by the warp of `who`.
    pub(crate) fn precedes_in_warp(&self, who: &Accessor<'_>) -> bool {
        self.block == who.block && self.warp == who.warp && self.time < who.time
    }

    pub(crate) fn by_several_warps(self) -> Self {
        Self { warp: SEVERAL_WARPS, ..self }
    }
}

/// The proxy through which an access observes shared memory (PTX).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Proxy {
    /// The generic proxy of loads and stores.
    Plain,
    /// The asynchronous proxy, which observes plain stores only after a proxy fence.
    Asynchronous,
}

/// The context of an access: block, warp, lane, operation, and the accesses ordered before it.
#[derive(Clone)]
pub(crate) struct Accessor<'a> {
    /// Index of the block in its cluster.
    pub(crate) block: u8,
    pub(crate) epoch: Epoch,
    pub(crate) warp: u16,
    pub(crate) lane: u8,
    /// Index of this access in the warp's program order.
    pub(crate) time: u64,
    /// Index of the first access after the warp's last barrier: earlier accesses of the warp precede that barrier.
    pub(crate) barrier: u64,
    pub(crate) operation: u32,
    /// Whether the lanes of a warp observe its accesses in program order.
    pub(crate) warp_ordered: bool,
    /// Ranges of access indices of the warp: the accesses in the first regions of the enclosing `if`s whose second
    /// region this lane executes.
    pub(crate) diverged: &'a [Range<u64>],
    /// For each warp of the block, an access index: the warp's accesses with lower indices are ordered before this
    /// access.
    pub(crate) happens_before: &'a [u64],
}

impl Accessor<'_> {
    pub(crate) fn record(&self) -> Record {
        let Self { block, epoch, warp, lane, time, operation, .. } = *self;
        Record { epoch, time, operation, warp, lane, block }
    }

    /// Whether the access of `record` is ordered before this access.
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
        if self.happens_before.get(usize::from(record.warp)).is_some_and(|&time| record.time < time) {
            return true;
        }
        if record.warp != self.warp {
            return false;
        }
        let in_order = record.time < self.time && !self.diverged.iter().any(|times| times.contains(&record.time));
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
    FaultKind::Race { direction, address: at as u64, other: Box::new(describe(earlier, record, who)) }
}

/// Describes a recorded access for the fault of a later access by `who`.
pub(crate) fn describe(direction: Direction, record: &Record, who: &Accessor<'_>) -> EarlierConflictingAccess {
    let elsewhere = record.block != who.block && record.block != SEVERAL_BLOCKS;
    EarlierConflictingAccess {
        block: elsewhere.then_some(u32::from(record.block)),
        ..describe_in_block(direction, record)
    }
}

/// Describes a recorded access from the view of its own block.
pub(crate) fn describe_in_block(direction: Direction, record: &Record) -> EarlierConflictingAccess {
    EarlierConflictingAccess {
        operation: record.operation as usize,
        text: String::new(),
        source: None,
        direction,
        block: None,
        warp: (record.warp != SEVERAL_WARPS).then_some(u32::from(record.warp)),
        lane: (record.lane != SEVERAL_LANES).then_some(u32::from(record.lane)),
    }
}
