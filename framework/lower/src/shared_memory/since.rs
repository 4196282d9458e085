//! The accesses of shared-memory buffers since the last block barrier.

use std::collections::BTreeSet;

use tilewright_plan::barrier_hazards::BarrierHazards;
use tilewright_target::Direction;

use super::annotations::{Access, Accessed, SubTensor};

type Buffers = BTreeSet<u32>;

/// The accesses of shared memory that may have happened since the last block barrier.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct AccessesSinceBarrier {
    /// The numbers of the buffers that were accessed.
    pub(super) used: Buffers,
    /// The accesses of the program's own tensors, each with its index in an allocation of several if that is known. A
    /// copy counts as an access from its wait on.
    hazards: BarrierHazards<(u32, Option<SubTensor>)>,
    /// The buffers with copies in flight. A copy writes its buffer at any time until it is waited for; a barrier does
    /// not complete it.
    in_flight: Buffers,
    /// The buffers that MMAs in flight read.
    mma_reads: Buffers,
}

impl AccessesSinceBarrier {
    /// Clears the accesses: the block has passed a barrier.
    pub(super) fn pass_barrier(&mut self) {
        self.used.clear();
        self.hazards.pass_barrier();
    }

    /// Whether an access needs a block barrier before it, because it conflicts with an earlier access of another
    /// thread.
    pub(super) fn is_hazard(&self, accessed: &Accessed) -> bool {
        let is_disjoint = |other: &Option<SubTensor>| match (accessed.sub_tensor, other) {
            (Some(own), Some(other)) => own.number == other.number && own.flipped != other.flipped,
            _ => false,
        };
        let direction = match accessed.access {
            Access::DisjointStore => return false,
            Access::Load | Access::Read => Direction::Load,
            Access::Store | Access::Copy => Direction::Store,
        };
        self.hazards.needs_barrier(direction, |(buffer, sub_tensor)| {
            accessed.buffers.contains(buffer) && !is_disjoint(sub_tensor)
        })
    }

    pub(super) fn access(&mut self, accessed: &Accessed) {
        let buffers_and_sub_tensors = accessed.buffers.iter().map(|&buffer| (buffer, accessed.sub_tensor));
        match accessed.access {
            Access::Load => self.hazards.access(Direction::Load, buffers_and_sub_tensors),
            Access::Store => self.hazards.access(Direction::Store, buffers_and_sub_tensors),
            Access::Read => self.mma_reads.extend(&accessed.buffers),
            Access::Copy => self.in_flight.extend(&accessed.buffers),
            Access::DisjointStore => {}
        }
    }

    /// Completes copies at a wait: if the wait leaves `outstanding` copies in flight, any copy may be complete; if it
    /// leaves none, all copies are.
    pub(super) fn wait(&mut self, outstanding: u32) {
        self.hazards.access(Direction::Store, self.in_flight.iter().map(|&buffer| (buffer, None)));
        if outstanding == 0 {
            self.in_flight.clear();
        }
    }

    /// Completes MMAs at a wait: their reads have happened by then.
    pub(super) fn wait_for_mma(&mut self, outstanding: u32) {
        self.hazards.access(Direction::Load, self.mma_reads.iter().map(|&buffer| (buffer, None)));
        if outstanding == 0 {
            self.mma_reads.clear();
        }
    }

    /// Ends a loop iteration: the index values of the program differ in the next iteration, so the accessed tensors of
    /// allocations are no longer known.
    pub(super) fn turned(self) -> Self {
        Self { hazards: self.hazards.rename(|(buffer, _)| (buffer, None)), ..self }
    }

    /// Merges the accesses of another control-flow path.
    pub(super) fn or(mut self, other: &Self) -> Self {
        self.used.extend(&other.used);
        self.hazards.join(&other.hazards);
        self.in_flight.extend(&other.in_flight);
        self.mma_reads.extend(&other.mma_reads);
        self
    }
}
