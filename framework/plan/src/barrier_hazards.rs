//! Hazards of shared memory: accesses since the last block barrier that a later access must not pass.
//!
//! Layout synthesis predicts the barriers of a program over the tile IR; lowering places them over the kernel IR. Both
//! use this analysis, each with its own names of buffers.

use std::collections::BTreeSet;

use tilewright_target::Direction;

/// The shared-memory buffers that were read and that were written since the last block barrier; the caller names
/// buffers by values of type `B`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HazardTracker<B: Ord> {
    read: BTreeSet<B>,
    written: BTreeSet<B>,
}

impl<B: Ord> Default for HazardTracker<B> {
    fn default() -> Self {
        Self { read: BTreeSet::new(), written: BTreeSet::new() }
    }
}

impl<B: Ord> HazardTracker<B> {
    /// Clears all recorded accesses, because the block has passed a barrier.
    pub fn clear_at_barrier(&mut self) {
        self.read.clear();
        self.written.clear();
    }

    /// Whether an access needs a block barrier before it: another thread may have written an accessed buffer (read or
    /// write after write), or, if the access is a store, may have read one (write after read). `may_be` returns true
    /// for every buffer that the access may touch.
    pub fn needs_barrier(&self, direction: Direction, may_be: impl Fn(&B) -> bool) -> bool {
        self.written.iter().any(&may_be) || direction == Direction::Store && self.read.iter().any(may_be)
    }

    /// Records that the block loads from the given buffers, or stores to them.
    pub fn record_access(&mut self, direction: Direction, buffers: impl IntoIterator<Item = B>) {
        match direction {
            Direction::Load => self.read.extend(buffers),
            Direction::Store => self.written.extend(buffers),
        }
    }

    /// Returns the recorded accesses with each buffer renamed by `name`.
    #[must_use]
    pub fn map_buffers<N: Ord>(self, name: impl Fn(B) -> N) -> HazardTracker<N> {
        let named = |buffers: BTreeSet<B>| buffers.into_iter().map(&name).collect();
        HazardTracker { read: named(self.read), written: named(self.written) }
    }

    /// Adds the accesses of another control-flow path, which reaches the same point of the program.
    pub fn merge(&mut self, other: &Self)
    where
        B: Clone,
    {
        self.read.extend(other.read.iter().cloned());
        self.written.extend(other.written.iter().cloned());
    }
}
