//! Asynchronous copies (`cp.async`) from global to shared memory. The copies of a warp's lanes are in groups, which
//! complete at a wait. Source: PTX ISA, `cp.async`, `cp.async.commit_group`, `cp.async.wait_group`.

use super::in_flight::PendingCopy;
use super::shared::{Accessor, Shared};
use super::{DeviceFaultKind, Running};

impl Running<'_> {
    /// Issues a lane's asynchronous copy of `bytes` to an address of shared memory. The copy belongs to the warp's open
    /// group until [`Self::commit`].
    pub(crate) fn send(&mut self, lane: usize, address: u64, bytes: Vec<u8>) -> Result<(), DeviceFaultKind> {
        let who = self.accessor(lane);
        self.shared.send(address, bytes.len() as u64, &who)?;
        self.pending_copies.open.push(PendingCopy { address, bytes, lane: lane as u8 });
        Ok(())
    }

    pub(crate) fn commit(&mut self) {
        let group = std::mem::take(&mut self.pending_copies.open);
        self.pending_copies.committed.push(group);
    }

    /// Writes the data of all committed groups except the latest `outstanding` ones to shared memory. With `open`, also
    /// writes the copies that no group has committed yet.
    pub(crate) fn land(&mut self, outstanding: usize, open: bool) {
        let completed = self.pending_copies.committed.len().saturating_sub(outstanding);
        let groups = self.pending_copies.committed.drain(..completed).flatten();
        let rest = if open { std::mem::take(&mut self.pending_copies.open) } else { Vec::new() };
        let (warp, epoch, step) = (self.warp as u8, *self.epoch, self.step);
        let landing = |copy: PendingCopy, shared: &mut Shared| {
            let who = Accessor { warp, lane: copy.lane, epoch, step, atomic: false };
            shared.land(copy.address, &copy.bytes, &who);
        };
        groups.chain(rest).for_each(|copy| landing(copy, self.shared));
    }
}
