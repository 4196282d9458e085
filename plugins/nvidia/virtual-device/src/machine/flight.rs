//! Asynchronous copies from global to shared memory: groups of a warp's lanes, which land when they are waited for.
//! Source: PTX ISA, `cp.async`, `cp.async.commit_group`, `cp.async.wait_group`.

use super::in_flight::Flight;
use super::shared::{Accessor, Shared};
use super::{DeviceFaultKind, Running};

impl Running<'_> {
    /// Sends bytes to shared memory.
    pub(crate) fn send(&mut self, lane: usize, address: u64, bytes: Vec<u8>) -> Result<(), DeviceFaultKind> {
        let who = self.accessor(lane);
        self.shared.send(address, bytes.len() as u64, &who)?;
        self.flights.open.push(Flight { address, bytes, lane: lane as u8 });
        Ok(())
    }

    pub(crate) fn commit(&mut self) {
        let group = std::mem::take(&mut self.flights.open);
        self.flights.rejected.push(group);
    }

    /// Waits for all groups but the latest so many; `open` ones, too, where nobody closes them.
    pub(crate) fn land(&mut self, outstanding: usize, open: bool) {
        let landed = self.flights.rejected.len().saturating_sub(outstanding);
        let groups = self.flights.rejected.drain(..landed).flatten();
        let rest = if open { std::mem::take(&mut self.flights.open) } else { Vec::new() };
        let (warp, epoch, step) = (self.warp as u8, *self.epoch, self.step);
        let landing = |flight: Flight, shared: &mut Shared| {
            let who = Accessor { warp, lane: flight.lane, epoch, step, atomic: false };
            shared.land(flight.address, &flight.bytes, &who);
        };
        groups.chain(rest).for_each(|flight| landing(flight, self.shared));
    }
}
