//! State of mbarriers in shared memory: a phase completes when all threads have arrived and all bytes have been
//! written.
//!
//! Copies that complete on an mbarrier stay in flight as long as possible: they complete when a warp waits for their
//! phase and all arrivals are in. A vector clock tracks which accesses a phase orders: for each warp of the block, the
//! access index before which the warp's accesses are done.

use std::collections::BTreeMap;

use super::{CompletionEffect, Proxy};
use crate::fault::FaultKind;

/// Size of an mbarrier in bytes, and the alignment of its address.
pub(super) const BYTES: u64 = 8;

/// A vector clock: for each warp of the block, an access index; all accesses of the warp with lower indices are done.
pub(crate) type Clock = Vec<u64>;

/// Merges another clock into this one.
pub(crate) fn join(clock: &mut Clock, other: &[u64]) {
    if clock.len() < other.len() {
        clock.resize(other.len(), 0);
    }
    clock.iter_mut().zip(other).for_each(|(time, &other)| *time = (*time).max(other));
}

/// Returns the clock of the moment when `warp` has done its accesses with indices below `time`, and other warps none.
pub(crate) fn clock_until(warp: u16, time: u64) -> Clock {
    let mut clock = vec![0; usize::from(warp) + 1];
    clock[usize::from(warp)] = time;
    clock
}

/// A copy in flight that completes on an mbarrier.
pub(super) struct Copy {
    pub(super) access_id: u64,
    pub(super) data: Vec<u8>,
    pub(super) proxy: Proxy,
}

pub(super) struct Mbarrier {
    pub(super) arrivals: u32,
    /// Number of arrivals that the current phase still needs.
    pub(super) missing: u32,
    /// Number of bytes that the current phase still needs; negative if copies completed before their bytes were
    /// expected.
    pub(super) bytes: i64,
    /// Number of completed phases.
    pub(super) phase: u64,
    pub(super) copies: Vec<Copy>,
    /// For each commit group that arrives at the mbarrier when the group completes, the group's completion effects.
    pub(super) groups: Vec<Vec<CompletionEffect>>,
    /// The merged clocks of all arrivals of the current phase.
    pub(super) arrival_clock: Clock,
    /// The clock that a warp acquires when it waits for the completed phases.
    pub(super) released: Clock,
}

impl Mbarrier {
    /// Starts the next phase if the current phase needs no more arrivals and no more bytes.
    pub(super) fn complete(&mut self) {
        if self.missing == 0 && self.bytes == 0 {
            self.phase += 1;
            self.missing = self.arrivals;
            self.released.clone_from(&self.arrival_clock);
        }
    }
}

/// All mbarriers of a block's shared memory, by address.
#[derive(Default)]
pub(super) struct Mbarriers(pub(super) BTreeMap<u64, Mbarrier>);

impl Mbarriers {
    pub(super) fn are_none(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    /// Checks that a plain access touches no mbarrier.
    pub(super) fn check(&self, address: u64, bytes: u64) -> Result<(), FaultKind> {
        let first = address.saturating_sub(BYTES - 1);
        match self.0.range(first..address.saturating_add(bytes)).next() {
            Some((&address, _)) => Err(wrong(address, "a plain access touches it")),
            None => Ok(()),
        }
    }
}

pub(super) fn wrong(address: u64, message: &str) -> FaultKind {
    FaultKind::Mbarrier { address, message: message.to_owned() }
}
