//! Mbarriers in shared memory: phases that complete when all have arrived and all bytes have come.
//!
//! Copies that complete on an mbarrier stay under way as long as they can: they land when a warp waits for
//! their phase and all have arrived. What has been ordered by a phase is known by clocks: for each warp of the
//! block, the time before which its accesses are done.

use std::collections::BTreeMap;

use super::{Landing, Proxy};
use crate::fault::FaultKind;

/// Bytes of an mbarrier, and its alignment.
pub(super) const BYTES: u64 = 8;

/// By warp of the block, the time before which all of its accesses are done.
pub(crate) type Clock = Vec<u64>;

/// Makes the clock say all that the other says, too.
pub(crate) fn join(clock: &mut Clock, other: &[u64]) {
    if clock.len() < other.len() {
        clock.resize(other.len(), 0);
    }
    clock.iter_mut().zip(other).for_each(|(time, &other)| *time = (*time).max(other));
}

/// The clock that says that accesses of this warp before `time` are done.
pub(crate) fn until(warp: u16, time: u64) -> Clock {
    let mut clock = vec![0; usize::from(warp) + 1];
    clock[usize::from(warp)] = time;
    clock
}

/// A copy that completes on an mbarrier.
pub(super) struct Copy {
    pub(super) flight: u64,
    pub(super) data: Vec<u8>,
    pub(super) proxy: Proxy,
}

pub(super) struct Mbarrier {
    pub(super) arrivals: u32,
    /// Arrivals that this phase still lacks.
    pub(super) missing: u32,
    /// Bytes that this phase still lacks; below zero where copies came before they were expected.
    pub(super) bytes: i64,
    /// Phases completed.
    pub(super) phase: u64,
    pub(super) copies: Vec<Copy>,
    /// Groups that will arrive when they have finished: what they do then.
    pub(super) groups: Vec<Vec<Landing>>,
    /// What those who arrived had done.
    pub(super) arrived: Clock,
    /// What is done where the completed phases are waited for.
    pub(super) released: Clock,
}

impl Mbarrier {
    /// Begins the next phase if this one lacks nothing.
    pub(super) fn complete(&mut self) {
        if self.missing == 0 && self.bytes == 0 {
            self.phase += 1;
            self.missing = self.arrivals;
            self.released.clone_from(&self.arrived);
        }
    }
}

/// All mbarriers of a memory, by address.
#[derive(Default)]
pub(super) struct Mbarriers(pub(super) BTreeMap<u64, Mbarrier>);

impl Mbarriers {
    pub(super) fn are_none(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    /// Whether plain accesses may touch these bytes.
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
