//! One accessor (a store or load) of a tensor, converted to coordinates of the layout problem.

use smallvec::SmallVec;
use tilewright_layout::LinearLayout;
use tilewright_layout::f2::{Columns, Subspace, multiply_vector};
use tilewright_target::{BankTableEntry, Direction};

use super::super::PlanContext;
use super::super::tile::{LocatedAccessor, Tile};
use super::accessor::SharedMemoryAccessor;

/// One accessor (a store or load of the tensor) with its weight, plan context and possible instructions.
#[derive(Clone)]
pub(super) struct Side<'a> {
    pub(super) layout: LinearLayout,
    pub(super) weight: u64,
    /// The elements that the accessor's registers and threads have, in coordinates of the problem.
    pub(super) located: LocatedAccessor,
    /// The plan context of the accessor; without instructions for a copy from global memory.
    pub(super) context: PlanContext<'a>,
    /// The instructions by which the accessor can access the tensor in at least one memory layout.
    pub(super) tiles: Vec<Tile<'a>>,
}

impl<'a> Side<'a> {
    pub(super) fn new(
        accessor: &SharedMemoryAccessor,
        layout: LinearLayout,
        located: LocatedAccessor,
        context: &PlanContext<'a>,
    ) -> Self {
        let context = if accessor.copy.is_some() { context.with_instructions(&[]).without_sharing() } else { *context };
        let tiles = tiles(&located, &context);
        Self { layout, weight: accessor.weight, tiles, located, context }
    }

    /// Returns the thread bits of a store whose threads hold replicas and can share the work by selects.
    pub(super) fn sharing(&self) -> SmallVec<[u32; 4]> {
        if self.context.shares_replicas { self.located.sharing() } else { SmallVec::new() }
    }

    /// Returns the store with its work shared by threads with replicas: the threads with and without the thread bit
    /// `bits[i]` store elements that differ by `given[i]`.
    pub(super) fn shared_along(&self, bits: &[u32], given: &[u64]) -> Self {
        let mut space = Subspace::span(given.iter().copied());
        let kept = self.located.kept.iter().copied().filter(|&column| space.insert(column)).collect();
        let located = self.located.shared_along(bits, given, kept);
        Self { tiles: tiles(&located, &self.context), located, ..self.clone() }
    }

    /// Returns the number of selects by which threads with replicas choose the words that they store.
    pub(super) fn selects(&self) -> u64 {
        let (left, element_bits) = (self.span().dimension(), self.located.element.bits());
        let words = u64::from((element_bits << left).div_ceil(element_bits.max(32)));
        words * ((1 << self.located.shares.len()) - 1)
    }

    pub(super) fn direction(&self) -> Direction {
        self.located.direction
    }

    /// Returns the space of elements that the registers of one thread hold.
    pub(super) fn span(&self) -> &Subspace {
        &self.located.span
    }

    pub(super) fn registers(&self) -> &[u64] {
        &self.located.registers
    }

    pub(super) fn lanes(&self) -> &[u64] {
        &self.located.threads[..self.located.lane_bits as usize]
    }

    pub(super) fn warps(&self) -> &[u64] {
        &self.located.threads[self.located.lane_bits as usize..]
    }

    /// The mask of lane bits along which stored data is replicated, so that only one lane stores.
    pub(super) fn idle_lanes(&self) -> u64 {
        self.located.idle & ((1 << self.located.lane_bits) - 1)
    }

    /// Returns log2 of the number of accesses of `2^width` elements by which a warp moves all elements of its lanes;
    /// `None` if a lane has fewer elements than one access.
    pub(super) fn accesses(&self, width: u32) -> Option<u32> {
        self.span().dimension().checked_sub(width).map(|numbered| self.located.share(numbered))
    }

    /// Returns the active lanes, as a space of lane indices; lanes that only hold replicas of stored data are idle.
    pub(super) fn active(&self) -> Subspace {
        let idle = self.idle_lanes();
        Subspace::span((0..self.located.lane_bits).map(|bit| 1u64 << bit).filter(|unit| idle & unit == 0))
    }

    /// The active lanes of one phase (lanes that are served together), as a space of lane indices.
    pub(super) fn phase_lanes(&self, row: &BankTableEntry) -> Subspace {
        let phase = row.phase_of(|distance| multiply_vector(self.lanes(), distance) == 0);
        Subspace::span(phase.iter().copied()).intersection(&self.active())
    }

    /// Returns, for each bit of the space of the active lanes of one phase, the element that it adds (over F2).
    pub(super) fn phase(&self, row: &BankTableEntry) -> Columns {
        self.phase_lanes(row).basis().iter().map(|&lane| multiply_vector(self.lanes(), lane)).collect()
    }
}

/// Returns the instructions of the context's table by which an accessor can access the tensor in at least one memory
/// layout.
fn tiles<'a>(located: &LocatedAccessor, context: &PlanContext<'a>) -> Vec<Tile<'a>> {
    let rows = Tile::of_rows(context.instructions, located.lane_bits).into_iter();
    rows.filter(|tile| tile.direction == located.direction && tile.may_divide(located)).collect()
}
