//! Asynchronous effects of an instruction, and its accesses of global memory.

use super::InstructionCall;
use crate::access::{aligned, count_wavefronts, global_load, transactions};
use crate::fault::{FaultKind, LaneFault};
use crate::mapped_tensor::{Run, Tensor, sectors};
use crate::shared::{CompletionEffect, Proxy};
use tilewright_kernel::{MemorySpace, Queue};
use tilewright_target::{Direction, ElementType, MemoryReduction};

impl<'a> InstructionCall<'a> {
    /// Makes the instruction complete on a queue of the warp. Its results are pending until a wait for that queue;
    /// accesses by [`InstructionCall::read_shared_asynchronously`] and [`InstructionCall::write_shared_asynchronously`]
    /// are in flight until then.
    pub fn set_completion_queue(&mut self, queue: Queue) {
        self.queue = Some(queue);
    }

    /// Makes the instruction complete on the mbarrier at this shared-memory address, by the bytes that
    /// [`InstructionCall::write_shared_asynchronously`] writes.
    pub fn set_completion_mbarrier(&mut self, address: u64) {
        self.mbarrier = Some(address);
    }

    /// Reads bytes of the block's shared memory, which nothing may write until the instruction has completed. If the
    /// queue reads through the asynchronous proxy, bytes written by plain stores must have been fenced. Adds no counts
    /// and no wavefronts.
    ///
    /// # Errors
    /// [`LaneFault`] if the access is invalid, or the call has no queue.
    pub fn read_shared_asynchronously(
        &mut self,
        address: u64,
        bytes: u32,
        alignment: u32,
    ) -> Result<Vec<u8>, LaneFault> {
        self.on_queue()?;
        let proxy = self.proxy();
        aligned(Direction::Load, MemorySpace::Shared, address, alignment)?;
        let memory = self.memories.block_shared(&self.accessor)?;
        let (access_id, data) = memory.start_read(address, bytes as usize, proxy, &self.accessor)?;
        self.landings.push(CompletionEffect::Read { access_id });
        Ok(data)
    }

    /// Writes bytes of the block's shared memory for one lane when the instruction completes. Nothing may access them
    /// until then.
    ///
    /// # Errors
    /// [`LaneFault`] if the access is invalid, or the call has neither a queue nor an mbarrier.
    pub fn write_shared_asynchronously(
        &mut self,
        lane: u32,
        address: u64,
        data: &[u8],
        alignment: u32,
    ) -> Result<(), LaneFault> {
        let mbarrier = self.mbarrier;
        if mbarrier.is_none() {
            self.on_queue()?;
        }
        let proxy = self.proxy();
        self.accessor.lane = lane as u8;
        let placed = |kind: FaultKind| LaneFault { lane: Some(lane), kind };
        aligned(Direction::Store, MemorySpace::Shared, address, alignment).map_err(placed)?;
        let memory = self.memories.block_shared(&self.accessor)?;
        let access_id = memory.start_write(address, data.len(), &self.accessor).map_err(placed)?;
        if let Some(mbarrier) = mbarrier {
            return memory.complete_on(mbarrier, access_id, data.to_vec(), proxy, &self.accessor).map_err(placed);
        }
        self.landings.push(CompletionEffect::Write { access_id, data: data.to_vec(), lane: lane as u8 });
        Ok(())
    }

    /// Loads `bytes` bytes from each address of global memory (one for each lane), and returns them in sequence, with
    /// zeros for lanes without an address. Counts the sectors that all lanes together touch.
    ///
    /// # Errors
    /// [`LaneFault`] if the access is invalid, or there are more addresses than lanes.
    pub fn load_global(&mut self, addresses: &[Option<u64>], bytes: u32, alignment: u32) -> Result<Vec<u8>, LaneFault> {
        if addresses.len() > self.lanes || bytes == 0 || !alignment.is_power_of_two() {
            return Err(self.invalid_use_fault("its semantics describe an access that no warp can make"));
        }
        let mut data = vec![0; addresses.len() * bytes as usize];
        for ((lane, address), into) in (0..).zip(addresses).zip(data.chunks_exact_mut(bytes as usize)) {
            let Some(address) = *address else { continue };
            global_load(address, into, alignment, self.memories.global)
                .and_then(|()| self.memories.check_global_race(Direction::Load, address, into, &self.accessor))
                .map_err(|kind| LaneFault { lane: Some(lane), kind })?;
        }
        let sectors = transactions(addresses, u64::from(bytes), self.memories.transaction_bytes);
        self.memories.transactions.loaded += sectors;
        Ok(data)
    }

    /// Returns the bits of an operand that must be equal in all lanes of the warp.
    ///
    /// # Errors
    /// [`LaneFault`] if two lanes have different bits, or there is no such operand.
    pub fn uniform_operand(&self, operand: usize) -> Result<u64, LaneFault> {
        let first = self.operand(operand, 0, 0)?;
        for lane in 1..self.lanes() {
            if self.operand(operand, 0, lane)? != first {
                return Err(
                    self.invalid_use_fault(&format!("operand {operand}: lanes 0 and {lane} have different words"))
                );
            }
        }
        Ok(first)
    }

    /// Returns the tensor that is bound to a tensor-map operand.
    pub(crate) fn tensor(&self, operand: usize) -> Result<&'a Tensor, LaneFault> {
        let tensors = self.memories.tensors;
        let tensor = tensors.get(self.uniform_operand(operand)? as usize).and_then(Option::as_ref);
        tensor.ok_or_else(|| self.invalid_use_fault(&format!("operand {operand} is a tensor map without a tensor")))
    }

    /// Maximum number of bytes of shared memory of a block of the target.
    pub(crate) fn shared_bytes(&self) -> u64 {
        self.target.shared.bytes.into()
    }

    /// Loads runs of contiguous bytes from global memory; each run is written to its offset in `into`. Counts the
    /// sectors that all runs together touch.
    pub(crate) fn load_runs(&mut self, runs: &[Run], alignment: u32, into: &mut [u8]) -> Result<(), LaneFault> {
        for run in runs {
            let bytes = into.get_mut(run.at as usize..(run.at + run.bytes) as usize);
            let bytes = bytes.ok_or_else(|| self.invalid_use_fault("it reads more than it copies"))?;
            global_load(run.address, bytes, alignment, self.memories.global)?;
            self.memories.check_global_race(Direction::Load, run.address, bytes, &self.accessor)?;
        }
        self.memories.transactions.loaded += sectors(runs, self.memories.transaction_bytes);
        Ok(())
    }

    /// Writes bytes to global memory when the instruction completes; each of `runs` (contiguous bytes in global memory)
    /// takes its bytes from its offset in `from`. Counts the sectors that all runs together touch.
    /// With `combined`, the elements are combined with those in memory in place of written.
    pub(crate) fn send_runs(
        &mut self,
        runs: &[Run],
        alignment: u32,
        from: &[u8],
        combined: Option<(MemoryReduction, ElementType)>,
    ) -> Result<(), LaneFault> {
        self.on_queue()?;
        let (direction, space) = (Direction::Store, MemorySpace::Global);
        for &Run { address, at, bytes } in runs {
            let data = from.get(at as usize..(at + bytes) as usize);
            let data = data.ok_or_else(|| self.invalid_use_fault("it writes more than it copies"))?.to_vec();
            aligned(direction, space, address, alignment)?;
            let outside = |expected| FaultKind::OutOfBounds { direction, space, address, bytes, expected };
            self.memories.global.check_writable(address, data.len()).map_err(outside)?;
            if combined.is_some() {
                global_load(address, &mut vec![0; data.len()], alignment, self.memories.global)?;
            }
            self.landings.push(match combined {
                None => CompletionEffect::WriteGlobal { address, data },
                Some((operation, element)) => CompletionEffect::CombineGlobal { address, data, operation, element },
            });
        }
        self.memories.transactions.stored += sectors(runs, self.memories.transaction_bytes);
        Ok(())
    }

    /// Prefetches runs of contiguous bytes of global memory: counts their sectors; a fault if a run is out of bounds.
    pub(crate) fn prefetch(&mut self, runs: &[Run]) -> Result<(), LaneFault> {
        let (direction, space) = (Direction::Load, MemorySpace::Global);
        let sector_bytes = self.memories.transaction_bytes;
        for &Run { address, bytes, .. } in runs {
            let outside = |expected| FaultKind::OutOfBounds { direction, space, address, bytes, expected };
            self.memories.global.check_writable(address, bytes as usize).map_err(outside)?;
            self.memories
                .transactions
                .prefetched
                .extend(address / sector_bytes..(address + bytes).div_ceil(sector_bytes));
        }
        self.counts.prefetches += 1;
        Ok(())
    }

    /// Counts one bulk copy of `bytes` bytes that a warp issues once: of a box of a tensor, or of contiguous bytes.
    pub(crate) fn count_bulk_copy(&mut self, bytes: usize) {
        self.counts.bulk_copies += 1;
        self.counts.bulk_bytes += bytes as u64;
    }

    /// Counts a copy whose lanes write `bytes` bytes to each of these shared addresses. Its shared-memory wavefronts
    /// follow the instruction's own bank row (entry of the bank table), or, if it has none, the row of plain stores of
    /// this width.
    ///
    /// # Errors
    /// The target has no such bank row.
    pub fn count_shared_copy(&mut self, addresses: &[Option<u64>], bytes: u32) -> Result<(), LaneFault> {
        let row = self.bank_row(Direction::Store, bytes.saturating_mul(8))?;
        count_wavefronts(Direction::Store, row, addresses, bytes, self.counts);
        self.counts.asynchronous_copies += 1;
        Ok(())
    }

    /// The proxy through which the instruction accesses shared memory.
    fn proxy(&self) -> Proxy {
        let by_proxy = self.mbarrier.is_some() || self.queue.is_some_and(Queue::uses_async_proxy);
        if by_proxy && self.target.shared.asynchronous_proxy { Proxy::Asynchronous } else { Proxy::Plain }
    }

    pub(super) fn on_queue(&self) -> Result<Queue, LaneFault> {
        self.queue.ok_or_else(|| self.invalid_use_fault("its semantics start an asynchronous access without a queue"))
    }
}
