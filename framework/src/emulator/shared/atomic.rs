//! Atomic operations on shared memory: with each other they never race, whoever makes them.

use super::{Accessor, Record, SharedMemory, race};
use crate::emulator::fault::FaultKind;
use crate::kernel::Space;
use crate::target::Direction;

impl SharedMemory {
    /// What an atomic operation reads, which may then write the same bytes.
    pub(in crate::emulator) fn atomic_load(
        &mut self,
        address: u64,
        into: &mut [u8],
        buffer: Option<u32>,
        who: &Accessor<'_>,
    ) -> Result<(), FaultKind> {
        let range = self.locate(Direction::Load, address, into.len(), buffer)?;
        self.untouched(Direction::Store, &range, who)?;
        for at in range.clone() {
            let write = self.writes[at];
            if !write.atomic && !who.follows(&write) {
                return Err(race(Direction::Store, at, Direction::Store, &write, who));
            }
            if !self.initialised[at] {
                return Err(FaultKind::Uninitialised { space: Space::Shared, address: at as u64 });
            }
            self.read_before(at, who)?;
        }
        into.copy_from_slice(&self.bytes[range]);
        Ok(())
    }

    /// What it writes, at the place that it has read.
    pub(in crate::emulator) fn atomic_store(&mut self, address: u64, from: &[u8], who: &Accessor<'_>) {
        self.bytes_stored += from.len() as u64;
        for (at, &byte) in (address as usize..).zip(from) {
            let write = &mut self.writes[at];
            let joined = write.atomic && !who.follows(write);
            let before = *write;
            *write = Record { atomic: true, ..who.record() };
            if joined {
                // Who comes after must come after all of them.
                let Record { block, warp, lane, .. } = before;
                write.join(&Accessor { block, warp, lane, ..who.clone() });
            }
            self.bytes[at] = byte;
            self.by_proxy[at] = false;
        }
    }
}
