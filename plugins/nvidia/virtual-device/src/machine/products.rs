//! What products of four warps read of shared memory while they are under way: it may not be written until they are
//! waited for. Source: PTX ISA, `wgmma.commit_group`, `wgmma.wait_group`.

use super::{DeviceFaultKind, Running};

impl Running<'_> {
    /// Reads a piece of shared memory for a product.
    pub(crate) fn group_take(&mut self, address: u64, into: &mut [u8]) -> Result<(), DeviceFaultKind> {
        let who = self.accessor(0);
        self.shared.load(address, into, &who)?;
        self.shared.lend(address, into.len() as u64, true);
        self.reads.open.push((address, into.len() as u64));
        Ok(())
    }

    pub(crate) fn group_commit(&mut self) {
        let open = std::mem::take(&mut self.reads.open);
        self.reads.rejected.push_back(open);
    }

    /// Waits for all groups but the latest so many.
    pub(crate) fn group_wait(&mut self, outstanding: usize) {
        let ended = self.reads.rejected.len().saturating_sub(outstanding);
        for (address, bytes) in self.reads.rejected.drain(..ended).flatten() {
            self.shared.lend(address, bytes, false);
        }
    }
}
