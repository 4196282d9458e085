//! The accesses of shared-memory buffers since the last block barrier.

use std::collections::BTreeSet;

use tilewright_plan::barrier_hazards::HazardTracker;
use tilewright_target::Direction;

use super::annotations::{Access, Accessed, BufferPart};
use super::index_analysis::IndexAnalysis;
use super::slices::PlacedSlice;

type Buffers = BTreeSet<u32>;

/// The accesses of shared memory that may have happened since the last block barrier.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct AccessesSinceBarrier {
    /// The numbers of the buffers that were accessed.
    pub(super) used: Buffers,
    /// The accesses of the program's own tensors since the barrier. An asynchronous copy counts as an access when it is
    /// waited for.
    hazards: HazardTracker<BufferPart>,
    /// The parts of buffers with copies in flight. A copy writes its part at any time until it is waited for; a barrier
    /// does not complete it.
    in_flight: BTreeSet<BufferPart>,
    /// The parts of buffers that MMAs in flight read.
    mma_reads: BTreeSet<BufferPart>,
    /// The parts of buffers that bulk copies in flight read. A barrier does not complete these reads.
    bulk_reads: BTreeSet<BufferPart>,
}

impl AccessesSinceBarrier {
    /// Clears the accesses: the block has passed a barrier.
    pub(super) fn pass_barrier(&mut self) {
        self.used.clear();
        self.hazards.clear_at_barrier();
    }

    /// Whether an access needs a block barrier before it, because it conflicts with an earlier access of another
    /// thread.
    pub(super) fn is_hazard(&self, accessed: &Accessed) -> bool {
        let direction = match accessed.access {
            Access::DisjointStore => return false,
            Access::Load | Access::Read | Access::BulkRead => Direction::Load,
            Access::Store | Access::Copy => Direction::Store,
        };
        let parts: Vec<BufferPart> = accessed.parts().collect();
        self.hazards.needs_barrier(direction, |other| parts.iter().any(|own| may_conflict(own, other)))
    }

    pub(super) fn access(&mut self, accessed: &Accessed) {
        match accessed.access {
            Access::Load => self.hazards.record_access(Direction::Load, accessed.parts()),
            Access::Store => self.hazards.record_access(Direction::Store, accessed.parts()),
            Access::Read => self.mma_reads.extend(accessed.parts()),
            Access::BulkRead => self.bulk_reads.extend(accessed.parts()),
            Access::Copy => self.in_flight.extend(accessed.parts()),
            Access::DisjointStore => {}
        }
    }

    /// Records a wait that leaves `outstanding` copies in flight. Any copy may be complete then, so all count as
    /// accesses; if `outstanding` is zero, none remains in flight.
    pub(super) fn wait(&mut self, outstanding: u32) {
        self.hazards.record_access(Direction::Store, self.in_flight.iter().cloned());
        if outstanding == 0 {
            self.in_flight.clear();
        }
    }

    /// Records a wait that leaves `outstanding` MMAs in flight. The reads of all MMAs count as accesses; if
    /// `outstanding` is zero, none remains in flight.
    pub(super) fn wait_for_mma(&mut self, outstanding: u32) {
        self.hazards.record_access(Direction::Load, self.mma_reads.iter().cloned());
        if outstanding == 0 {
            self.mma_reads.clear();
        }
    }

    /// Records a wait of every thread for the mbarrier at which the MMAs of the whole block arrive, which leaves
    /// `outstanding` in flight. Their reads do not count as accesses, because no barrier is needed after such a wait.
    pub(super) fn wait_for_mma_at_mbarrier(&mut self, outstanding: u32) {
        if outstanding == 0 {
            self.mma_reads.clear();
        }
    }

    /// Returns the buffers that bulk copies in flight read.
    pub(super) fn buffers_in_bulk_reads(&self) -> Buffers {
        self.bulk_reads.iter().map(|(buffer, _)| *buffer).collect()
    }

    /// Whether an access writes to memory that bulk copies in flight read.
    pub(super) fn overwrites_bulk_reads(&self, accessed: &Accessed) -> bool {
        let is_write = matches!(accessed.access, Access::Store | Access::Copy | Access::DisjointStore);
        let is_read = |own: &BufferPart| self.bulk_reads.iter().any(|other| may_conflict(own, other));
        is_write && accessed.parts().any(|own| is_read(&own))
    }

    /// Records a wait of the issuing warp for the reads of its bulk copies. They count as accesses: other warps need a
    /// barrier before they write.
    pub(super) fn wait_for_bulk_reads(&mut self) {
        self.used.extend(self.buffers_in_bulk_reads());
        self.hazards.record_access(Direction::Load, std::mem::take(&mut self.bulk_reads));
    }

    /// Ends an iteration of the loop `number`: slices that depend on its iteration number are rewritten in terms of the
    /// next iteration's.
    pub(super) fn in_next_iteration(self, analysis: &IndexAnalysis<'_>, number: usize) -> Self {
        self.rename(|slice| slice.in_next_iteration(analysis, number))
    }

    /// Leaves the loop `number`: slices that depend on its iteration number are rewritten in terms of the number of its
    /// iterations.
    pub(super) fn at_exit(self, analysis: &IndexAnalysis<'_>, number: usize) -> Self {
        self.rename(|slice| slice.at_exit(analysis, number))
    }

    /// Forgets all slices: each access may have touched all of its buffer.
    pub(super) fn without_slices(self) -> Self {
        self.rename(|_| None)
    }

    fn rename(self, name: impl Fn(&PlacedSlice) -> Option<PlacedSlice>) -> Self {
        let rename = |(buffer, slice): BufferPart| (buffer, slice.as_ref().and_then(&name));
        Self {
            used: self.used,
            hazards: self.hazards.map_buffers(rename),
            in_flight: self.in_flight.into_iter().map(rename).collect(),
            mma_reads: self.mma_reads.into_iter().map(rename).collect(),
            bulk_reads: self.bulk_reads.into_iter().map(rename).collect(),
        }
    }

    /// Merges the accesses of another control-flow path.
    pub(super) fn or(mut self, other: &Self) -> Self {
        self.used.extend(&other.used);
        self.hazards.merge(&other.hazards);
        self.in_flight.extend(other.in_flight.iter().cloned());
        self.mma_reads.extend(other.mma_reads.iter().cloned());
        self.bulk_reads.extend(other.bulk_reads.iter().cloned());
        self
    }
}

/// Whether two accesses of buffer parts, in different threads, may touch the same byte.
fn may_conflict((buffer, slice): &BufferPart, (other_buffer, other): &BufferPart) -> bool {
    buffer == other_buffer
        && !slice.as_ref().zip(other.as_ref()).is_some_and(|(slice, other)| slice.is_independent_of(other))
}
