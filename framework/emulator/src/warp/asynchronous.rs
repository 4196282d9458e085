//! Steps that order asynchronous operations: commits, waits, mbarriers, named barriers, proxy fences.

use super::{BlockContext, Done, Warp};
use crate::fault::{FaultKind, LaneFault};
use crate::program::Copied;
use crate::queues::complete;
use crate::shared::{Clock, clock_until, join};
use tilewright_kernel::Queue;

impl Warp {
    pub(super) fn wait(
        &mut self,
        queue: Queue,
        outstanding: u32,
        values: &[Copied],
        around: &mut BlockContext<'_>,
        at: usize,
    ) -> Done {
        self.require_all_lanes()?;
        let mut queues = std::mem::take(&mut self.queues);
        let (accessor, mut memories) = self.next_access(around, at);
        queues.wait(queue, outstanding, &mut memories, &accessor);
        self.queues = queues;
        for value in values {
            self.queues.check_ready(queue, value.from)?;
            self.registers.copy_within(value.from..value.from + value.n, value.to);
        }
        Ok(())
    }

    /// Copies a value, which no asynchronous operation produces, to the registers of a pending value of the queue. That
    /// pending value needs no wait.
    pub(super) fn make_ready(&mut self, queue: Queue, value: &Copied) -> Done {
        self.require_all_lanes()?;
        self.registers.copy_within(value.from..value.from + value.n, value.to);
        self.queues.add_ready(queue, value.to);
        Ok(())
    }

    /// Returns the number of a named barrier from its registers, which must have the same value in all lanes.
    pub(super) fn barrier_number(&self, number: usize, around: &BlockContext<'_>) -> Result<u32, LaneFault> {
        self.require_all_lanes()?;
        let lane_values = &self.registers[number..number + self.lanes];
        if let Some(other) = lane_values.iter().position(|value| *value != lane_values[0]) {
            return Err(FaultKind::NotSame { lane: 0, other: other as u32 }.into());
        }
        let most = around.target.limits.named_barriers;
        match u32::try_from(lane_values[0]) {
            Ok(number) if number < most => Ok(number),
            _ => Err(FaultKind::NamedBarrierNumber { number: lane_values[0], most }.into()),
        }
    }

    /// Returns the clock that this warp brings to a named barrier: the accesses ordered before its next ones, including
    /// all of its own so far.
    pub(crate) fn named_barrier_clock(&self) -> Clock {
        let mut done = self.known.clone();
        join(&mut done, &clock_until(self.index as u16, self.time));
        done
    }

    /// Orders all accesses in `brought`, the merged clock of the warps of a named barrier, before the next accesses of
    /// this warp.
    pub(crate) fn join_named_barrier(&mut self, brought: &Clock) {
        join(&mut self.known, brought);
        self.barrier = self.time;
    }

    pub(super) fn mbarrier_init(
        &mut self,
        pointer: usize,
        arrivals: u32,
        around: &mut BlockContext<'_>,
        at: usize,
    ) -> Done {
        let address = self.same_in_all(pointer)?;
        let (accessor, mut memories) = self.next_access(around, at);
        Ok(memories.block_shared(&accessor)?.init_mbarrier(address, arrivals, &accessor)?)
    }

    /// Arrives at an mbarrier; the arrival is ordered after all accesses of the warp's lanes so far.
    pub(super) fn mbarrier_arrive(
        &mut self,
        pointer: usize,
        bytes: u32,
        around: &mut BlockContext<'_>,
        at: usize,
    ) -> Done {
        let address = self.same_in_all(pointer)?;
        self.counts.mbarrier_arrivals += 1;
        self.barrier = self.time;
        let mut done = self.known.clone();
        // The arrival itself is the warp's next access.
        join(&mut done, &clock_until(self.index as u16, self.time + 1));
        let (accessor, mut memories) = self.next_access(around, at);
        Ok(memories.block_shared(&accessor)?.arrive(address, bytes, &done, &accessor)?)
    }

    /// Waits for a phase of an mbarrier; returns the mbarrier's address if the phase is incomplete, `None` if it is
    /// complete. `pointer` and `phase` are registers with the address and the parity of the phase.
    pub(super) fn mbarrier_wait(
        &mut self,
        pointer: usize,
        phase: usize,
        around: &mut BlockContext<'_>,
        at: usize,
    ) -> Result<Option<u64>, LaneFault> {
        let (address, parity) = (self.same_in_all(pointer)?, self.same_in_all(phase)?);
        let (accessor, mut memories) = self.next_access(around, at);
        let finished = memories.block_shared(&accessor)?.finish_groups(address, parity, &accessor)?;
        finished.into_iter().for_each(|landing| complete(landing, &mut memories, &accessor));
        let released = memories.block_shared(&accessor)?.wait(address, parity, &accessor)?;
        if let Some(released) = &released {
            join(&mut self.known, released);
        }
        Ok(released.is_none().then_some(address))
    }

    /// Invalidates an mbarrier; the invalidation is ordered after all accesses of the warp's lanes so far.
    pub(super) fn mbarrier_invalidate(&mut self, pointer: usize, around: &mut BlockContext<'_>, at: usize) -> Done {
        let address = self.same_in_all(pointer)?;
        self.barrier = self.time;
        let (accessor, mut memories) = self.next_access(around, at);
        Ok(memories.block_shared(&accessor)?.invalidate_mbarrier(address, &accessor)?)
    }

    pub(super) fn mbarrier_commit(
        &mut self,
        queue: Queue,
        pointer: usize,
        around: &mut BlockContext<'_>,
        at: usize,
    ) -> Done {
        let address = self.same_in_all(pointer)?;
        let group = self.queues.take_open(queue);
        let (accessor, mut memories) = self.next_access(around, at);
        Ok(memories.block_shared(&accessor)?.arrive_with(address, group, &accessor)?)
    }

    pub(super) fn proxy_fence(&mut self, around: &mut BlockContext<'_>, at: usize) -> Done {
        self.require_all_lanes()?;
        let (accessor, memories) = self.next_access(around, at);
        memories.shared.iter_mut().for_each(|memory| memory.fence(&accessor));
        Ok(())
    }

    /// Returns a value that must be equal in all lanes; a fault if it is not, or if a lane is inactive.
    pub(super) fn same_in_all(&self, value: usize) -> Result<u64, LaneFault> {
        self.require_all_lanes()?;
        let lane_values = &self.registers[value..value + self.lanes];
        let first = lane_values.first().copied().unwrap_or(0);
        match lane_values.iter().position(|&other| other != first) {
            None => Ok(first),
            Some(lane) => {
                let message = format!("lane 0 has {first:#x}; all lanes must name the same");
                let kind = FaultKind::Mbarrier { address: lane_values[lane], message };
                Err(LaneFault { lane: Some(lane as u32), kind })
            }
        }
    }
}
