//! Bulk copies in flight. A copy to shared memory arrives at an mbarrier when it completes; a copy from shared memory
//! is in a bulk group of the lane that issued it. Copies complete as late as possible: when a lane waits for them.
//! Source: PTX ISA, `cp.async.bulk`.

use std::collections::VecDeque;

use super::in_flight::{PendingBulkLoad, PendingBulkStore};
use super::{Compute, DeviceFaultKind, PtxSpace, Running};

impl Running<'_> {
    /// Issues a bulk copy to shared memory, which arrives at an mbarrier when it completes. `pieces` are destination
    /// addresses in shared memory, each with its data.
    pub(crate) fn bulk_send(
        &mut self,
        lane: usize,
        mbarrier: u64,
        pieces: Vec<(u64, Vec<u8>)>,
    ) -> Result<(), DeviceFaultKind> {
        self.mbarrier(mbarrier)?;
        let who = self.accessor(lane);
        for (address, bytes) in &pieces {
            self.shared.send(*address, bytes.len() as u64, &who)?;
        }
        self.shared.arriving.entry(mbarrier).or_default().push_back(PendingBulkLoad { pieces });
        Ok(())
    }

    /// Completes the oldest bulk copy in flight that arrives at this mbarrier; returns false if there is none.
    pub(super) fn bulk_arrive(&mut self, mbarrier: u64, lane: usize) -> Result<bool, DeviceFaultKind> {
        let oldest = self.shared.arriving.get_mut(&mbarrier).and_then(VecDeque::pop_front);
        let Some(PendingBulkLoad { pieces }) = oldest else { return Ok(false) };
        let who = self.accessor(lane);
        let bytes: usize = pieces.iter().map(|(_, bytes)| bytes.len()).sum();
        pieces.iter().for_each(|(address, bytes)| self.shared.land(*address, bytes, &who));
        self.mbarrier_bytes_arrive(mbarrier, bytes as u64)?;
        Ok(true)
    }

    /// Issues a bulk copy from shared to global memory, in the lane's open bulk group. Each of `pieces` is a source
    /// address, a destination address and a number of bytes. With `update` (a bulk reduction), each piece is one
    /// element, and `update` computes its new value in global memory.
    pub(crate) fn bulk_take(
        &mut self,
        lane: usize,
        pieces: Vec<(u64, u64, u64)>,
        update: Option<Compute>,
    ) -> Result<(), DeviceFaultKind> {
        let who = self.accessor(lane);
        let mut leaving = PendingBulkStore { update, ..PendingBulkStore::default() };
        for (from, to, count) in pieces {
            let mut bytes = vec![0; count as usize];
            self.shared.load(from, &mut bytes, &who)?;
            self.shared.track_async_read(from, count, true);
            leaving.from.push((from, count));
            leaving.to.push((to, bytes));
        }
        self.groups[lane].open.push(leaving);
        Ok(())
    }

    /// Commits the open bulk group of a lane; later bulk copies of the lane go to a new group.
    pub(crate) fn bulk_commit(&mut self, lane: usize) {
        let groups = &mut self.groups[lane];
        let open = std::mem::take(&mut groups.open);
        groups.committed.push_back(open);
    }

    /// Waits until at most `outstanding` bulk groups of a lane are in flight. With `only_read`, it waits only until the
    /// earlier groups have read shared memory; their data is not yet written to global memory.
    pub(crate) fn bulk_wait(
        &mut self,
        lane: usize,
        outstanding: usize,
        only_read: bool,
    ) -> Result<(), DeviceFaultKind> {
        let completed = self.groups[lane].committed.len().saturating_sub(outstanding);
        for index in 0..completed {
            for copy in &mut self.groups[lane].committed[index] {
                copy.from.iter().for_each(|&(address, bytes)| self.shared.track_async_read(address, bytes, false));
                copy.is_read = true;
            }
        }
        if only_read {
            return Ok(());
        }
        let copies: Vec<PendingBulkStore> = self.groups[lane].committed.drain(..completed).flatten().collect();
        self.write(lane, copies)
    }

    /// Completes the bulk copies of a lane that exits. Returns a fault if the lane has not waited until a copy's source
    /// was read.
    pub(super) fn bulk_end(&mut self, lane: usize) -> Result<(), DeviceFaultKind> {
        let groups = &mut self.groups[lane];
        let mut copies: Vec<PendingBulkStore> = groups.committed.drain(..).flatten().collect();
        copies.append(&mut groups.open);
        match copies.iter().any(|copy| !copy.is_read) {
            true => Err(DeviceFaultKind::Unfinished { lane: lane as u32 }),
            false => self.write(lane, copies),
        }
    }

    fn write(&mut self, lane: usize, copies: Vec<PendingBulkStore>) -> Result<(), DeviceFaultKind> {
        for copy in copies {
            for (address, mut bytes) in copy.to {
                let at = (PtxSpace::Global, address);
                if let Some(update) = &copy.update {
                    let mut old = vec![0; bytes.len()];
                    self.load(at, &mut old, lane)?;
                    let word = |bytes: &[u8]| bytes.iter().rev().fold(0u64, |word, &byte| word << 8 | u64::from(byte));
                    let new = update([word(&old), word(&bytes), 0, 0]).to_le_bytes();
                    let size = bytes.len();
                    bytes.copy_from_slice(&new[..size]);
                }
                self.store(at, &bytes, true, lane)?;
            }
        }
        Ok(())
    }
}
