//! Asynchronous accesses of shared memory: they are sent off, and land later.

use super::{Accessor, Proxy, SEVERAL_LANES, SharedMemory, race};
use crate::fault::{FaultKind, OtherAccess};
use tilewright_target::Direction;

impl SharedMemory {
    /// Sends off a read: gives its number and the bytes as they are. Nobody may write them until it lands.
    pub(crate) fn send_read(
        &mut self,
        address: u64,
        bytes: usize,
        proxy: Proxy,
        who: &Accessor<'_>,
    ) -> Result<(u64, Vec<u8>), FaultKind> {
        let range = self.locate(Direction::Load, address, bytes, None)?;
        self.untouched(Direction::Load, &range, who)?;
        for at in range.clone() {
            self.written_before(at, who)?;
            self.seen_by(proxy, at, who)?;
        }
        let number = self.flights.send(Direction::Load, range.clone(), who, self.bytes.len());
        Ok((number, self.bytes[range].to_vec()))
    }

    /// Sends off a write: nobody may touch the bytes until it lands. Gives its number.
    pub(crate) fn send_write(&mut self, address: u64, bytes: usize, who: &Accessor<'_>) -> Result<u64, FaultKind> {
        let range = self.locate(Direction::Store, address, bytes, None)?;
        self.untouched(Direction::Store, &range, who)?;
        for at in range.clone() {
            let write = self.writes[at];
            if !who.follows(&write) {
                return Err(race(Direction::Store, at, Direction::Store, &write, who));
            }
            self.read_before(at, who)?;
        }
        Ok(self.flights.send(Direction::Store, range, who, self.bytes.len()))
    }

    /// A read has landed where `who` waits: whoever writes there must come after that.
    pub(crate) fn land_read(&mut self, number: u64, who: &Accessor<'_>) {
        let Some((range, operation)) = self.flights.land(number) else { return };
        let who = Accessor { operation, lane: SEVERAL_LANES, ..who.clone() };
        range.for_each(|at| self.note_read(at, &who));
    }

    /// A write has landed where `who` waits: whoever reads there must come after that.
    pub(crate) fn land_write(&mut self, number: u64, data: &[u8], proxy: Proxy, who: &Accessor<'_>) {
        let Some((range, operation)) = self.flights.land(number) else { return };
        let record = Accessor { operation, ..who.clone() }.record();
        self.bytes_stored += range.len() as u64;
        for (at, &byte) in range.zip(data) {
            self.writes[at] = record;
            self.bytes[at] = byte;
            self.initialised[at] = true;
            self.by_proxy[at] = proxy == Proxy::Asynchronous;
        }
    }

    /// The plain writes of a warp so far are seen by the asynchronous proxy.
    pub(crate) fn fence(&mut self, who: &Accessor<'_>) {
        self.fences.insert((who.block, who.warp), who.time);
    }

    /// Whether what lies in a byte is seen by the proxy.
    pub(super) fn seen_by(&self, proxy: Proxy, at: usize, who: &Accessor<'_>) -> Result<(), FaultKind> {
        let write = &self.writes[at];
        let fenced = self.fences.get(&(write.block, write.warp)).is_some_and(|&time| write.time < time);
        if proxy == Proxy::Plain || fenced || self.by_proxy[at] {
            return Ok(());
        }
        let other = super::described(Direction::Store, write, who);
        Err(FaultKind::Unfenced { address: at as u64, other: Box::new(other) })
    }

    /// What is still under way.
    pub(crate) fn under_way(&self) -> Option<OtherAccess> {
        self.flights.any(self.owner)
    }
}
