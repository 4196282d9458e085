//! Atomic operations on shared memory: with each other they never race, whoever makes them.
//!
//! They have records of their own, since one that is not ordered after another must still be after what that one
//! came after: plain writes keep theirs.

use std::ops::Range;

use super::{Accessor, Record, SharedMemory, race};
use crate::fault::FaultKind;
use tilewright_target::Direction;

impl SharedMemory {
    /// What an atomic operation reads, which may then write the same bytes.
    pub(crate) fn atomic_load(
        &mut self,
        address: u64,
        into: &mut [u8],
        buffer: Option<u32>,
        who: &Accessor<'_>,
    ) -> Result<(), FaultKind> {
        let range = self.locate(Direction::Load, address, into.len(), buffer)?;
        self.untouched(Direction::Store, &range, who)?;
        for at in range.clone() {
            self.written_before(at, who)?;
            self.read_before(at, who)?;
        }
        into.copy_from_slice(&self.bytes[range]);
        Ok(())
    }

    /// What it writes, at the place that it has read.
    pub(crate) fn atomic_store(&mut self, address: u64, from: &[u8], who: &Accessor<'_>) {
        self.atomics.resize(self.bytes.len(), Record::default());
        self.bytes_stored += from.len() as u64;
        for (at, &byte) in (address as usize..).zip(from) {
            let update = &mut self.atomics[at];
            if who.follows(update) {
                *update = who.record();
            } else {
                // Who comes after must come after both.
                update.join(who);
            }
            self.bytes[at] = byte;
            self.by_proxy[at] = false;
        }
    }

    /// Whether all atomic operations on these bytes come before a plain access.
    pub(super) fn updated_before(
        &self,
        direction: Direction,
        range: &Range<usize>,
        who: &Accessor<'_>,
    ) -> Result<(), FaultKind> {
        if self.atomics.is_empty() {
            return Ok(());
        }
        let late = range.clone().find(|&at| !who.follows(&self.atomics[at]));
        late.map_or(Ok(()), |at| Err(race(direction, at, Direction::Store, &self.atomics[at], who)))
    }
}
