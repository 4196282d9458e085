//! Atomic operations on shared memory, which never race with each other.
//!
//! They have records separate from plain writes: an atomic operation that is not ordered after another one must still
//! be ordered after the plain writes that precede that one.

use std::ops::Range;

use super::{Accessor, Record, SharedMemory, race};
use crate::fault::FaultKind;
use tilewright_target::Direction;

impl SharedMemory {
    /// Reads the bytes of an atomic operation into `into`, after a check that the operation may read and write them.
    /// They must lie in the shared buffer with the index `buffer`, if it is known.
    pub(crate) fn atomic_load(
        &mut self,
        address: u64,
        into: &mut [u8],
        buffer: Option<u32>,
        who: &Accessor<'_>,
    ) -> Result<(), FaultKind> {
        let range = self.locate(Direction::Load, address, into.len(), buffer)?;
        self.check_no_conflict(Direction::Store, &range, who)?;
        for at in range.clone() {
            self.check_written_before(at, who)?;
            self.check_reads_before(at, who)?;
        }
        into.copy_from_slice(&self.bytes[range]);
        Ok(())
    }

    /// Writes the new bytes of an atomic operation, which [`Self::atomic_load`] has checked, and records the operation.
    pub(crate) fn atomic_store(&mut self, address: u64, from: &[u8], who: &Accessor<'_>) {
        self.atomics.resize(self.bytes.len(), Record::default());
        self.bytes_stored += from.len() as u64;
        for (at, &byte) in (address as usize..).zip(from) {
            let update = &mut self.atomics[at];
            if who.follows(update) {
                *update = who.record();
            } else {
                // Later accesses must be ordered after the recorded operation and after this one.
                update.join(who);
            }
            self.bytes[at] = byte;
            self.by_proxy[at] = false;
        }
    }

    /// Checks that all atomic operations on these bytes are ordered before a plain access.
    pub(super) fn check_atomics_before(
        &self,
        direction: Direction,
        range: &Range<usize>,
        who: &Accessor<'_>,
    ) -> Result<(), FaultKind> {
        if self.atomics.is_empty() {
            return Ok(());
        }
        let unordered = range.clone().find(|&at| !who.follows(&self.atomics[at]));
        unordered.map_or(Ok(()), |at| Err(race(direction, at, Direction::Store, &self.atomics[at], who)))
    }
}
