//! What an instruction does after it has been issued.

use super::Call;
use crate::access::{aligned, count_wavefronts, global_load, transactions};
use crate::fault::{FaultKind, LaneFault};
use crate::mapped_tensor::{Run, Tensor, units};
use crate::shared::{Landing, Proxy};
use tilewright_kernel::{MemorySpace, Queue};
use tilewright_target::Direction;

impl<'a> Call<'a> {
    /// Says that the instruction completes on a queue of the warp: results are pending until a wait for it,
    /// and what [`Call::send_read`] and [`Call::send_write`] sent off is under way as long.
    pub fn completes_on(&mut self, queue: Queue) {
        self.queue = Some(queue);
    }

    /// Says that the instruction completes on the mbarrier at this shared address, by the bytes that
    /// [`Call::send_write`] sends off.
    pub fn completes_on_mbarrier(&mut self, address: u64) {
        self.mbarrier = Some(address);
    }

    /// Reads bytes of the own block's shared memory that nobody may write until the instruction has completed.
    /// Where the queue reads by a proxy of its own, bytes that were stored plainly must have been fenced.
    /// Neither counts nor wavefronts are added.
    ///
    /// # Errors
    /// What the access does wrong; no queue has been said.
    pub fn send_read(&mut self, address: u64, bytes: u32, alignment: u32) -> Result<Vec<u8>, LaneFault> {
        self.on_queue()?;
        let proxy = self.proxy();
        aligned(Direction::Load, MemorySpace::Shared, address, alignment)?;
        let memory = self.memories.own(&self.accessor)?;
        let (flight, data) = memory.send_read(address, bytes as usize, proxy, &self.accessor)?;
        self.landings.push(Landing::Read { flight });
        Ok(data)
    }

    /// Writes bytes of the own block's shared memory, for one lane, when the instruction has completed. Until
    /// then nobody may touch them.
    ///
    /// # Errors
    /// What the access does wrong; neither queue nor mbarrier has been said.
    pub fn send_write(&mut self, lane: u32, address: u64, data: &[u8], alignment: u32) -> Result<(), LaneFault> {
        let mbarrier = self.mbarrier;
        if mbarrier.is_none() {
            self.on_queue()?;
        }
        let proxy = self.proxy();
        self.accessor.lane = lane as u8;
        let placed = |kind: FaultKind| LaneFault { lane: Some(lane), kind };
        aligned(Direction::Store, MemorySpace::Shared, address, alignment).map_err(placed)?;
        let memory = self.memories.own(&self.accessor)?;
        let flight = memory.send_write(address, data.len(), &self.accessor).map_err(placed)?;
        if let Some(mbarrier) = mbarrier {
            return memory.complete_on(mbarrier, flight, data.to_vec(), proxy, &self.accessor).map_err(placed);
        }
        self.landings.push(Landing::Write { flight, data: data.to_vec(), lane: lane as u8 });
        Ok(())
    }

    /// Loads `bytes` bytes from every address of global memory; gives them one after the other, zeros where there
    /// is no address. Counts the units of memory that they touch together.
    ///
    /// # Errors
    /// What the access does wrong; more addresses than lanes.
    pub fn load_global(&mut self, addresses: &[Option<u64>], bytes: u32, alignment: u32) -> Result<Vec<u8>, LaneFault> {
        if addresses.len() > self.lanes || bytes == 0 || !alignment.is_power_of_two() {
            return Err(self.wrong("its meaning makes an access that no warp can make"));
        }
        let mut data = vec![0; addresses.len() * bytes as usize];
        for ((lane, address), into) in (0..).zip(addresses).zip(data.chunks_exact_mut(bytes as usize)) {
            let Some(address) = *address else { continue };
            global_load(address, into, alignment, self.memories.global)
                .map_err(|kind| LaneFault { lane: Some(lane), kind })?;
        }
        let units = transactions(addresses, u64::from(bytes), self.memories.transaction_bytes);
        self.memories.transactions.loaded += units;
        Ok(data)
    }

    /// The bits of an operand, which must be the same in all lanes.
    ///
    /// # Errors
    /// Two lanes have different ones; there is no such operand.
    pub fn same_operand(&self, operand: usize) -> Result<u64, LaneFault> {
        let first = self.operand(operand, 0, 0)?;
        for lane in 1..self.lanes() {
            if self.operand(operand, 0, lane)? != first {
                return Err(self.wrong(&format!("operand {operand}: lane {lane} has another value than lane 0")));
            }
        }
        Ok(first)
    }

    /// The tensor whose map an operand is.
    pub(crate) fn tensor(&self, operand: usize) -> Result<&'a Tensor, LaneFault> {
        let tensors = self.memories.tensors;
        let tensor = tensors.get(self.same_operand(operand)? as usize).and_then(Option::as_ref);
        tensor.ok_or_else(|| self.wrong(&format!("operand {operand} is the map of no tensor")))
    }

    /// Bytes of shared memory of a block of the target.
    pub(crate) fn shared_bytes(&self) -> u64 {
        self.target.shared.bytes.into()
    }

    /// Loads runs of bytes of global memory to their places. Counts the units of memory that they touch together.
    pub(crate) fn load_runs(&mut self, runs: &[Run], alignment: u32, into: &mut [u8]) -> Result<(), LaneFault> {
        for run in runs {
            let bytes = into.get_mut(run.at as usize..(run.at + run.bytes) as usize);
            let bytes = bytes.ok_or_else(|| self.wrong("it reads more than it copies"))?;
            global_load(run.address, bytes, alignment, self.memories.global)?;
        }
        self.memories.transactions.loaded += units(runs, self.memories.transaction_bytes);
        Ok(())
    }

    /// Writes runs of these bytes to global memory when the instruction has completed.
    pub(crate) fn send_runs(&mut self, runs: &[Run], alignment: u32, from: &[u8]) -> Result<(), LaneFault> {
        self.on_queue()?;
        let (direction, space) = (Direction::Store, MemorySpace::Global);
        for &Run { address, at, bytes } in runs {
            let data = from.get(at as usize..(at + bytes) as usize);
            let data = data.ok_or_else(|| self.wrong("it writes more than it copies"))?.to_vec();
            aligned(direction, space, address, alignment)?;
            let outside = |expected| FaultKind::OutOfBounds { direction, space, address, bytes, expected };
            self.memories.global.reaches(address, data.len()).map_err(outside)?;
            self.landings.push(Landing::WriteGlobal { address, data });
        }
        self.memories.transactions.stored += units(runs, self.memories.transaction_bytes);
        Ok(())
    }

    /// Prefetches runs of bytes of global memory.
    pub(crate) fn prefetch(&mut self, runs: &[Run]) -> Result<(), LaneFault> {
        let (direction, space) = (Direction::Load, MemorySpace::Global);
        let unit = self.memories.transaction_bytes;
        for &Run { address, bytes, .. } in runs {
            let outside = |expected| FaultKind::OutOfBounds { direction, space, address, bytes, expected };
            self.memories.global.reaches(address, bytes as usize).map_err(outside)?;
            self.memories.transactions.prefetched.extend(address / unit..(address + bytes).div_ceil(unit));
        }
        self.counts.prefetches += 1;
        Ok(())
    }

    /// Counts a copy of so many bytes that the warp issues once, of a box or a span.
    pub(crate) fn count_bulk_copy(&mut self, bytes: usize) {
        self.counts.bulk_copies += 1;
        self.counts.bulk_bytes += bytes as u64;
    }

    /// Counts a copy whose lanes write `bytes` bytes to each of these shared addresses, by the instruction's own
    /// bank row, or where there is none by that of plain stores of this width.
    ///
    /// # Errors
    /// The target has no such row.
    pub fn count_copy(&mut self, addresses: &[Option<u64>], bytes: u32) -> Result<(), LaneFault> {
        let row = self.bank_row(Direction::Store, bytes.saturating_mul(8))?;
        count_wavefronts(Direction::Store, row, addresses, bytes, self.counts);
        self.counts.asynchronous_copies += 1;
        Ok(())
    }

    /// By which the instruction sees shared memory.
    fn proxy(&self) -> Proxy {
        let own = self.mbarrier.is_some() || self.queue.is_some_and(Queue::reads_by_proxy);
        if own && self.target.shared.asynchronous_proxy { Proxy::Asynchronous } else { Proxy::Plain }
    }

    pub(super) fn on_queue(&self) -> Result<Queue, LaneFault> {
        self.queue.ok_or_else(|| self.wrong("its meaning sends something off without saying on which queue"))
    }
}
