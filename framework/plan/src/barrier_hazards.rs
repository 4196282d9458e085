//! Hazards of shared memory: the accesses since the last barrier of the block that a later access must come after.
//!
//! Layout synthesis predicts over the tile IR how many barriers a program takes; the lowering finds over the kernel IR where they
//! belong. Both ask this one analysis, each with its own names of buffers.

use std::collections::BTreeSet;

use tilewright_target::Direction;

/// The buffers that were read and written since the block's last barrier.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BarrierHazards<B: Ord> {
    read: BTreeSet<B>,
    written: BTreeSet<B>,
}

impl<B: Ord> Default for BarrierHazards<B> {
    fn default() -> Self {
        Self { read: BTreeSet::new(), written: BTreeSet::new() }
    }
}

impl<B: Ord> BarrierHazards<B> {
    /// Forgets all accesses: the block has passed a barrier.
    pub fn pass_barrier(&mut self) {
        self.read.clear();
        self.written.clear();
    }

    /// Whether a barrier must come before an access of the buffers that `may_be` accepts: another thread may have written them,
    /// or, if they are written now, read them.
    pub fn needs_barrier(&self, direction: Direction, may_be: impl Fn(&B) -> bool) -> bool {
        self.written.iter().any(&may_be) || direction == Direction::Store && self.read.iter().any(may_be)
    }

    /// Notes an access of buffers.
    pub fn access(&mut self, direction: Direction, buffers: impl IntoIterator<Item = B>) {
        match direction {
            Direction::Load => self.read.extend(buffers),
            Direction::Store => self.written.extend(buffers),
        }
    }

    /// The hazards under other names.
    #[must_use]
    pub fn renamed<N: Ord>(self, name: impl Fn(B) -> N) -> BarrierHazards<N> {
        let named = |buffers: BTreeSet<B>| buffers.into_iter().map(&name).collect();
        BarrierHazards { read: named(self.read), written: named(self.written) }
    }

    /// Adds the accesses of another path to the same place.
    pub fn join(&mut self, other: &Self)
    where
        B: Copy,
    {
        self.read.extend(&other.read);
        self.written.extend(&other.written);
    }
}
