//! Asynchronous accesses of shared memory: issue, completion and visibility to the proxies.

use super::{Accessor, Proxy, SEVERAL_LANES, SharedMemory, race};
use crate::fault::{EarlierConflictingAccess, FaultKind};
use tilewright_target::Direction;

impl SharedMemory {
    /// Starts an asynchronous read of `bytes` bytes from `address` on; returns the number of the access and the current
    /// contents. Nothing may write these bytes until the read completes.
    pub(crate) fn start_read(
        &mut self,
        address: u64,
        bytes: usize,
        proxy: Proxy,
        who: &Accessor<'_>,
    ) -> Result<(u64, Vec<u8>), FaultKind> {
        let range = self.locate(Direction::Load, address, bytes, None)?;
        self.check_no_conflict(Direction::Load, &range, who)?;
        // Neighbouring bytes mostly have one writer, and whether a write is observed depends on nothing else.
        let mut observed = None;
        for at in range.clone() {
            let write = Some((self.writes[at], self.by_proxy[at]));
            if observed != write || !self.initialised[at] {
                self.check_written_before(at, who)?;
                self.check_visible_to(proxy, at, who)?;
                observed = write;
            }
        }
        let id = self.in_flight.send(Direction::Load, range.clone(), who, self.bytes.len());
        Ok((id, self.bytes[range].to_vec()))
    }

    /// Starts an asynchronous write of `bytes` bytes from `address` on; returns the number of the access. Nothing may
    /// access these bytes until the write completes.
    pub(crate) fn start_write(&mut self, address: u64, bytes: usize, who: &Accessor<'_>) -> Result<u64, FaultKind> {
        let range = self.locate(Direction::Store, address, bytes, None)?;
        self.check_no_conflict(Direction::Store, &range, who)?;
        for at in range.clone() {
            let write = self.writes[at];
            if !who.follows(&write) {
                return Err(race(Direction::Store, at, Direction::Store, &write, who));
            }
            self.check_reads_before(at, who)?;
        }
        Ok(self.in_flight.send(Direction::Store, range, who, self.bytes.len()))
    }

    /// Completes a read at the wait of `who`: later writes of the bytes must be ordered after it.
    pub(crate) fn complete_read(&mut self, id: u64, who: &Accessor<'_>) {
        let Some((range, operation)) = self.in_flight.complete(id) else { return };
        let who = Accessor { operation, lane: SEVERAL_LANES, ..who.clone() };
        range.for_each(|at| self.note_read(at, &who));
    }

    /// Completes a write at the wait of `who`: later reads of the bytes must be ordered after it.
    pub(crate) fn complete_write(&mut self, id: u64, data: &[u8], proxy: Proxy, who: &Accessor<'_>) {
        let Some((range, operation)) = self.in_flight.complete(id) else { return };
        let record = Accessor { operation, ..who.clone() }.record();
        self.bytes_stored += range.len() as u64;
        self.writes[range.clone()].fill(record);
        self.bytes[range.clone()].copy_from_slice(data);
        self.initialised[range.clone()].fill(true);
        self.by_proxy[range].fill(proxy == Proxy::Asynchronous);
    }

    /// Executes a proxy fence: plain writes of the warp so far become visible to the asynchronous proxy.
    pub(crate) fn fence(&mut self, who: &Accessor<'_>) {
        self.fences.insert((who.block, who.warp), who.time);
    }

    /// Checks that `proxy` observes the last write of the byte `at`: the asynchronous proxy observes a plain write only
    /// after a proxy fence by the writer's warp.
    pub(super) fn check_visible_to(&self, proxy: Proxy, at: usize, who: &Accessor<'_>) -> Result<(), FaultKind> {
        let write = &self.writes[at];
        let is_fenced = || self.fences.get(&(write.block, write.warp)).is_some_and(|&time| write.time < time);
        if proxy == Proxy::Plain || self.by_proxy[at] || is_fenced() {
            return Ok(());
        }
        let other = super::describe(Direction::Store, write, who);
        Err(FaultKind::Unfenced { address: at as u64, other: Box::new(other) })
    }

    /// Describes one access in flight; `None` if there is none.
    pub(crate) fn find_in_flight(&self) -> Option<EarlierConflictingAccess> {
        self.in_flight.any(self.owner)
    }
}
