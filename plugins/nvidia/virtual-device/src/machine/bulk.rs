//! Bulk copies under way: those to shared memory arrive at an mbarrier, those from there are in groups of the lane that
//! issued them. They land as late as they may: when somebody waits for them. Source: PTX ISA, `cp.async.bulk`.

use std::collections::VecDeque;

use super::in_flight::{Arriving, Leaving};
use super::{DeviceFaultKind, PtxSpace, Running};

impl Running<'_> {
    /// Sends bytes to places in shared memory; they arrive at an mbarrier.
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
        self.shared.arriving.entry(mbarrier).or_default().push_back(Arriving { pieces });
        Ok(())
    }

    /// Lets the oldest copy land that arrives at an mbarrier; whether there was one.
    pub(super) fn bulk_arrive(&mut self, mbarrier: u64, lane: usize) -> Result<bool, DeviceFaultKind> {
        let oldest = self.shared.arriving.get_mut(&mbarrier).and_then(VecDeque::pop_front);
        let Some(Arriving { pieces }) = oldest else { return Ok(false) };
        let who = self.accessor(lane);
        let bytes: usize = pieces.iter().map(|(_, bytes)| bytes.len()).sum();
        pieces.iter().for_each(|(address, bytes)| self.shared.land(*address, bytes, &who));
        self.mbarrier_bytes_arrive(mbarrier, bytes as u64)?;
        Ok(true)
    }

    /// Reads places of shared memory, in the lane's open group, for what some time is in global memory.
    pub(crate) fn bulk_take(&mut self, lane: usize, pieces: Vec<(u64, u64, u64)>) -> Result<(), DeviceFaultKind> {
        let who = self.accessor(lane);
        let mut leaving = Leaving::default();
        for (from, to, count) in pieces {
            let mut bytes = vec![0; count as usize];
            self.shared.load(from, &mut bytes, &who)?;
            self.shared.lend(from, count, true);
            leaving.from.push((from, count));
            leaving.to.push((to, bytes));
        }
        self.groups[lane].open.push(leaving);
        Ok(())
    }

    /// Closes the group of a lane.
    pub(crate) fn bulk_commit(&mut self, lane: usize) {
        let groups = &mut self.groups[lane];
        let open = std::mem::take(&mut groups.open);
        groups.rejected.push_back(open);
    }

    /// Waits for all groups of a lane but the latest so many; only until what they read has been read, where so asked.
    pub(crate) fn bulk_wait(
        &mut self,
        lane: usize,
        outstanding: usize,
        only_read: bool,
    ) -> Result<(), DeviceFaultKind> {
        let landed = self.groups[lane].rejected.len().saturating_sub(outstanding);
        for number in 0..landed {
            for copy in &mut self.groups[lane].rejected[number] {
                copy.from.iter().for_each(|&(address, bytes)| self.shared.lend(address, bytes, false));
                copy.is_read = true;
            }
        }
        if only_read {
            return Ok(());
        }
        let copies: Vec<Leaving> = self.groups[lane].rejected.drain(..landed).flatten().collect();
        self.write(lane, copies)
    }

    /// Ends what a lane has issued: what nobody waited for must have read what it copies.
    pub(super) fn bulk_end(&mut self, lane: usize) -> Result<(), DeviceFaultKind> {
        let groups = &mut self.groups[lane];
        let mut copies: Vec<Leaving> = groups.rejected.drain(..).flatten().collect();
        copies.append(&mut groups.open);
        match copies.iter().any(|copy| !copy.is_read) {
            true => Err(DeviceFaultKind::Unfinished { lane: lane as u32 }),
            false => self.write(lane, copies),
        }
    }

    fn write(&mut self, lane: usize, copies: Vec<Leaving>) -> Result<(), DeviceFaultKind> {
        for (address, bytes) in copies.into_iter().flat_map(|copy| copy.to) {
            self.store((PtxSpace::Global, address), &bytes, true, lane)?;
        }
        Ok(())
    }
}
