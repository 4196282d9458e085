//! Where the elements that lie in memory are held, and where they lie.

use super::Reach;
use tilewright_kernel::Element;
use tilewright_layout::Padding;
use tilewright_layout::f2::{Columns, Solver, Subspace, multiply};
use tilewright_target::{Direction, TargetDescription};

/// What registers and threads hold of the elements that lie in memory, in some coordinates of these.
#[derive(Debug, Clone)]
pub(in super::super) struct Located {
    pub(in super::super) element: Element,
    pub(in super::super) direction: Direction,
    pub(in super::super) lane_bits: u32,
    /// Columns of the register bits.
    pub(in super::super) registers: Columns,
    /// Columns of the lane bits, then of the warp bits.
    pub(in super::super) threads: Columns,
    /// Registers' columns without what numbers rounds.
    pub(in super::super) kept: Columns,
    /// The span of these.
    pub(in super::super) span: Subspace,
    /// What numbers rounds, of which each has its share of the elements in memory.
    pub(in super::super) rounds: Columns,
    /// Thread bits of a storing side that only tell copies apart: of the copies the first is stored.
    pub(in super::super) idle: u64,
    /// What it accesses beyond the memory of its own block.
    pub(in super::super) reach: Reach,
}

impl Located {
    /// A side, of one block's memory, in coordinates of which the first `kept_bits` are in memory at one time, and the `rounds`
    /// bits above number rounds.
    pub(in super::super) fn new(
        (element, direction, lane_bits): (Element, Direction, u32),
        registers: Columns,
        threads: Columns,
        (kept_bits, rounds): (u32, u32),
    ) -> Self {
        let mask = 1u64.checked_shl(kept_bits).unwrap_or(0).wrapping_sub(1);
        let kept: Columns = registers.iter().map(|column| column & mask).filter(|&column| column != 0).collect();
        let span = Subspace::span(kept.iter().copied());
        let idle = match direction {
            Direction::Store => {
                let columns: Columns = registers.iter().chain(&threads).copied().collect();
                Solver::new(&columns).free_columns() >> registers.len()
            }
            Direction::Load => 0,
        };
        let rounds = (0..rounds).map(|round| 1 << (kept_bits + round)).collect();
        Self { element, direction, lane_bits, registers, threads, kept, span, rounds, idle, reach: Reach::default() }
    }

    /// Warps of a block.
    pub(in super::super) fn warps(&self) -> u64 {
        1 << (self.threads.len() as u32 - self.lane_bits)
    }

    /// Log2 of how often the accesses of a round to one memory are made, in other rounds and at other blocks.
    pub(super) fn repeated_bits(&self) -> u32 {
        self.rounds.len() as u32 + self.reach.times
    }

    /// Log2 of the accesses of which a warp makes its share, where 2^`numbered` reach all that a lane holds:
    /// warps that hold the same share them, as [`super::TileStats`] count.
    pub(in super::super) fn share(&self, numbered: u32) -> u32 {
        numbered - self.alike().count().min(numbered as usize) as u32
    }

    /// Bits of warps of a storing side that hold the same.
    pub(super) fn alike(&self) -> impl Iterator<Item = u32> + '_ {
        let warps = self.lane_bits..self.threads.len() as u32;
        warps.filter(|&bit| self.idle >> bit & 1 == 1 && self.threads[bit as usize] == 0)
    }

    /// Log2 of an element's bytes.
    pub(super) fn byte_bits(&self) -> u32 {
        (self.element.bits() / 8).ilog2()
    }

    /// The part of a thread's number that is the lane.
    pub(super) fn lane_mask(&self) -> u64 {
        (1 << self.lane_bits) - 1
    }

    /// The columns of the lanes that are served together at a width of plain accesses.
    pub(in super::super) fn phase(&self, access_bits: u32, target: &TargetDescription) -> Option<Columns> {
        let row = target.bank_row(self.direction, access_bits)?;
        let lanes = &self.threads[..self.lane_bits as usize];
        Some(row.phase.iter().map(|&lane| multiply(lanes, lane)).collect())
    }
}

/// A layout of memory with the solution of "which offset holds this element".
pub(in super::super) struct Memory<'a> {
    /// The element, in coordinates, that each offset bit stands for.
    pub(super) columns: &'a [u64],
    pub(super) padding: &'a [Padding],
    offsets: Solver,
}

impl<'a> Memory<'a> {
    pub(in super::super) fn new(columns: &'a [u64], padding: &'a [Padding]) -> Self {
        Self { columns, padding, offsets: Solver::new(columns) }
    }

    pub(super) fn offset(&self, vector: u64) -> u64 {
        self.offsets.solve(vector).unwrap_or(0)
    }

    /// Whether padding keeps 2^`bits` elements that lie together so, and at multiples of as many.
    pub(super) fn keeps_together(&self, bits: u32) -> bool {
        self.padding.iter().all(|p| p.interval >> bits != 0 && p.padding.is_multiple_of(1 << bits))
    }

    /// The offset with what padding lies before it.
    pub(super) fn padded(&self, offset: u64) -> u64 {
        offset + self.padding.iter().map(|p| offset / p.interval * p.padding).sum::<u64>()
    }
}
