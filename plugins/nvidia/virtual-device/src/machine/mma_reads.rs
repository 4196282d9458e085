//! Tracks the shared memory that warpgroup MMAs in flight read: no store may change it before a wait for the MMAs.
//! Source: PTX ISA, `wgmma.commit_group`, `wgmma.wait_group`.

use super::{DeviceFaultKind, Running};

impl Running<'_> {
    /// Reads shared memory from `address` on into `into` for an MMA, and marks these bytes as being read until the warp
    /// waits for the MMA.
    pub(crate) fn group_take(&mut self, address: u64, into: &mut [u8]) -> Result<(), DeviceFaultKind> {
        let who = self.accessor(0);
        self.shared.load(address, into, &who)?;
        self.shared.track_async_read(address, into.len() as u64, true);
        self.reads.open.push((address, into.len() as u64));
        Ok(())
    }

    pub(crate) fn group_commit(&mut self) {
        let open = std::mem::take(&mut self.reads.open);
        self.reads.committed.push_back(open);
    }

    /// Waits until at most `outstanding` groups of MMAs are in flight: bytes that earlier groups read may be stored to
    /// again.
    pub(crate) fn group_wait(&mut self, outstanding: usize) {
        let finished = self.reads.committed.len().saturating_sub(outstanding);
        for (address, bytes) in self.reads.committed.drain(..finished).flatten() {
            self.shared.track_async_read(address, bytes, false);
        }
    }
}
