//! One accessor, in the question's coordinates.

use tilewright_layout::LinearLayout;
use tilewright_layout::f2::{Columns, Subspace, multiply};
use tilewright_target::{BankRow, Direction};

use super::super::PlanContext;
use super::super::tile::{Located, Tile};
use super::accessor::Accessor;

/// One accessor.
pub(super) struct Side<'a> {
    pub(super) layout: LinearLayout,
    pub(super) weight: u64,
    /// What its registers and threads hold, in the question's coordinates.
    pub(super) located: Located,
    /// What it may use: all that was given, but no instructions where it is a copy from global memory.
    pub(super) context: PlanContext<'a>,
    /// The rows of the instruction table by which some memory layout lets it be accessed.
    pub(super) tiles: Vec<Tile<'a>>,
}

impl<'a> Side<'a> {
    pub(super) fn new(accessor: &Accessor, layout: LinearLayout, located: Located, context: &PlanContext<'a>) -> Self {
        let context = if accessor.copy.is_some() { context.with_instructions(&[]) } else { *context };
        let rows = Tile::of_rows(context.instructions, located.lane_bits).into_iter();
        let own = |tile: &Tile<'_>| tile.direction == located.direction && tile.may_divide(&located);
        Self { layout, weight: accessor.weight, tiles: rows.filter(own).collect(), located, context }
    }

    pub(super) fn direction(&self) -> Direction {
        self.located.direction
    }

    /// The span of the registers.
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

    /// Lanes with one of these bits hold copies of what others store.
    pub(super) fn idle_lanes(&self) -> u64 {
        self.located.idle & ((1 << self.located.lane_bits) - 1)
    }

    /// Log2 of the accesses of `2^width` elements that a warp makes; `None` where a lane holds less.
    pub(super) fn accesses(&self, width: u32) -> Option<u32> {
        self.span().dimension().checked_sub(width).map(|numbered| self.located.share(numbered))
    }

    /// The lanes that take part, as a space of lane numbers.
    pub(super) fn active(&self) -> Subspace {
        let idle = self.idle_lanes();
        Subspace::span((0..self.located.lane_bits).map(|bit| 1u64 << bit).filter(|unit| idle & unit == 0))
    }

    /// The lanes of a phase that take part.
    pub(super) fn phase_lanes(&self, row: &BankRow) -> Subspace {
        Subspace::span(row.phase.iter().copied()).intersection(&self.active())
    }

    /// The columns of the lanes of a phase that take part.
    pub(super) fn phase(&self, row: &BankRow) -> Columns {
        self.phase_lanes(row).basis().iter().map(|&lane| multiply(self.lanes(), lane)).collect()
    }
}
