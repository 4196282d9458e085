//! Steps that order asynchronous operations: commits, waits, mbarriers, fences between proxies.

use super::{Done, Surroundings, Warp};
use crate::fault::{FaultKind, LaneFault};
use crate::program::Copied;
use crate::queues::land;
use crate::shared::{Clock, join, until};
use tilewright_kernel::Queue;

impl Warp {
    pub(super) fn wait(
        &mut self,
        queue: Queue,
        outstanding: u32,
        values: &[Copied],
        around: &mut Surroundings<'_>,
        at: usize,
    ) -> Done {
        self.require_all_lanes()?;
        let mut queues = std::mem::take(&mut self.queues);
        let (accessor, mut memories) = self.next_access(around, at);
        queues.wait(queue, outstanding, &mut memories, &accessor);
        self.queues = queues;
        for value in values {
            self.queues.take(queue, value.from)?;
            self.registers.copy_within(value.from..value.from + value.n, value.to);
        }
        Ok(())
    }

    /// A value that waits for nothing, as one of the queue.
    pub(super) fn pend(&mut self, queue: Queue, value: &Copied) -> Done {
        self.require_all_lanes()?;
        self.registers.copy_within(value.from..value.from + value.n, value.to);
        self.queues.pend(queue, value.to);
        Ok(())
    }

    /// What this warp brings to a barrier of some warps: by warp, the time before which accesses are done.
    pub(crate) fn brings(&self) -> Clock {
        let mut done = self.known.clone();
        join(&mut done, &until(self.index as u16, self.time));
        done
    }

    /// All that others have brought comes before what it does from here on.
    pub(crate) fn meets(&mut self, brought: &Clock) {
        join(&mut self.known, brought);
        self.barrier = self.time;
    }

    pub(super) fn mbarrier_init(
        &mut self,
        pointer: usize,
        arrivals: u32,
        around: &mut Surroundings<'_>,
        at: usize,
    ) -> Done {
        let address = self.same_in_all(pointer)?;
        let (accessor, mut memories) = self.next_access(around, at);
        Ok(memories.own(&accessor)?.init_mbarrier(address, arrivals, &accessor)?)
    }

    /// An arrival comes after all that the warp's lanes did before.
    pub(super) fn mbarrier_arrive(
        &mut self,
        pointer: usize,
        bytes: u32,
        around: &mut Surroundings<'_>,
        at: usize,
    ) -> Done {
        let address = self.same_in_all(pointer)?;
        self.counts.mbarrier_arrivals += 1;
        self.barrier = self.time;
        let mut done = self.known.clone();
        join(&mut done, &until(self.index as u16, self.time));
        let (accessor, mut memories) = self.next_access(around, at);
        Ok(memories.own(&accessor)?.arrive(address, bytes, &done, &accessor)?)
    }

    /// The mbarrier's address where its phase has not completed yet.
    pub(super) fn mbarrier_wait(
        &mut self,
        pointer: usize,
        phase: usize,
        around: &mut Surroundings<'_>,
        at: usize,
    ) -> Result<Option<u64>, LaneFault> {
        let (address, parity) = (self.same_in_all(pointer)?, self.same_in_all(phase)?);
        let (accessor, mut memories) = self.next_access(around, at);
        let finished = memories.own(&accessor)?.finish_groups(address, parity, &accessor)?;
        finished.into_iter().for_each(|landing| land(landing, &mut memories, &accessor));
        let released = memories.own(&accessor)?.wait(address, parity, &accessor)?;
        if let Some(released) = &released {
            join(&mut self.known, released);
        }
        Ok(released.is_none().then_some(address))
    }

    pub(super) fn mbarrier_commit(
        &mut self,
        queue: Queue,
        pointer: usize,
        around: &mut Surroundings<'_>,
        at: usize,
    ) -> Done {
        let address = self.same_in_all(pointer)?;
        let group = self.queues.take_open(queue);
        let (accessor, mut memories) = self.next_access(around, at);
        Ok(memories.own(&accessor)?.arrive_with(address, group, &accessor)?)
    }

    pub(super) fn proxy_fence(&mut self, around: &mut Surroundings<'_>, at: usize) -> Done {
        self.require_all_lanes()?;
        let (accessor, memories) = self.next_access(around, at);
        memories.shared.iter_mut().for_each(|memory| memory.fence(&accessor));
        Ok(())
    }

    /// The value that all lanes hold; a fault where they don't.
    pub(super) fn same_in_all(&self, value: usize) -> Result<u64, LaneFault> {
        self.require_all_lanes()?;
        let held = &self.registers[value..value + self.lanes];
        let first = held.first().copied().unwrap_or(0);
        match held.iter().position(|&other| other != first) {
            None => Ok(first),
            Some(lane) => {
                let message = format!("lane 0 has {first:#x}; all lanes must name the same");
                let kind = FaultKind::Mbarrier { address: held[lane], message };
                Err(LaneFault { lane: Some(lane as u32), kind })
            }
        }
    }
}
