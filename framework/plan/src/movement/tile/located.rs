//! An accessor (a store or load of a tensor) in coordinates of a memory, and the memory's layout.

use super::{Reach, Share};
use smallvec::SmallVec;
use tilewright_kernel::Element;
use tilewright_layout::Padding;
use tilewright_layout::f2::{Columns, Solver, Subspace, multiply_vector};
use tilewright_target::{BankTableEntry, Direction, TargetDescription};

/// An accessor (a store or load of a tensor): the elements that its registers and threads hold, as coordinates in
/// shared memory.
#[derive(Debug, Clone)]
pub(in super::super) struct LocatedAccessor {
    pub(in super::super) element: Element,
    pub(in super::super) direction: Direction,
    pub(in super::super) lane_bits: u32,
    /// For each register bit, the element that it adds (over F2).
    pub(in super::super) registers: Columns,
    /// The bases of the thread index: for each lane bit, then each warp bit, the element that it adds (over F2).
    pub(in super::super) threads: Columns,
    /// The elements that register bits add, without the coordinate bits that number rounds (fillings of the memory).
    pub(in super::super) kept: Columns,
    /// The elements that the registers of one thread span in one round (filling of the shared memory).
    pub(in super::super) span: Subspace,
    /// The coordinate bits that number rounds (fillings of the memory); each round moves an equal share of the
    /// elements.
    pub(in super::super) rounds: Columns,
    /// Mask of the thread bits of a store that only select replicas; the first replica is stored.
    pub(in super::super) idle: u64,
    /// The division of a store's elements among threads that hold replicas; empty if the first replica stores all.
    pub(in super::super) shares: SmallVec<[Share; 2]>,
    /// The blocks whose memories the accessor accesses, as distances (xor of block indices).
    pub(in super::super) reach: Reach,
}

impl LocatedAccessor {
    /// Creates an accessor of one block's memory from the elements that its register and thread bits add. The first
    /// `kept_bits` coordinate bits are in memory at one time; the `rounds` bits above them number rounds.
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
        let (shares, reach) = (SmallVec::new(), Reach::default());
        Self { element, direction, lane_bits, registers, threads, kept, span, rounds, idle, shares, reach }
    }

    /// Returns log2 of the max number of consecutive registers that have consecutive elements in memory, in every group
    /// of so many registers. `offset` is the offset in memory that an element adds (over F2).
    pub(in super::super) fn bits_in_order(&self, offset: impl Fn(u64) -> u64) -> u32 {
        let offsets: Columns = self.kept.iter().map(|&column| offset(column)).collect();
        let first = offsets.iter().enumerate().take_while(|&(bit, &offset)| offset == 1 << bit).count();
        let others = offsets[first..].iter().fold(0, |all, offset| all | offset);
        others.trailing_zeros().min(first as u32)
    }

    /// Returns the number of warps of a block.
    pub(in super::super) fn warps(&self) -> u64 {
        1 << (self.threads.len() as u32 - self.lane_bits)
    }

    /// Returns a lower bound of the bits that a lane moves in all rounds: the distinct elements of a lane, divided
    /// among the warps that hold replicas.
    pub(in super::super) fn moved_bits(&self) -> u64 {
        let replicas = (self.idle >> self.lane_bits).count_ones();
        (u64::from(self.element.bits()) << (self.span.dimension() as usize + self.rounds.len())) >> replicas
    }

    /// Returns log2 of the number of times that a warp repeats the accesses of one round (filling of the memory) to one
    /// block's memory: in other rounds, and to the memories of other blocks.
    pub(super) fn repeated_bits(&self) -> u32 {
        self.rounds.len() as u32 + self.reach.times
    }

    /// Returns log2 of the number of accesses that one warp issues, if 2^`numbered` accesses move all elements of a
    /// lane. Warps that hold the same elements share the accesses, as [`super::TileStats`] counts.
    pub(in super::super) fn share(&self, numbered: u32) -> u32 {
        numbered - self.alike().count().min(numbered as usize) as u32
    }

    /// Returns the warp bits of a store along which warps have the same elements in the same registers.
    pub(super) fn alike(&self) -> impl Iterator<Item = u32> + '_ {
        let warps = self.lane_bits..self.threads.len() as u32;
        warps.filter(|&bit| self.idle >> bit & 1 == 1 && self.threads[bit as usize] == 0)
    }

    /// Returns log2 of the number of bytes of an element.
    pub(super) fn byte_bits(&self) -> u32 {
        (self.element.bits() / 8).ilog2()
    }

    /// Returns the mask of the lane bits in a thread index.
    pub(super) fn lane_mask(&self) -> u64 {
        (1 << self.lane_bits) - 1
    }

    /// Returns one phase of plain accesses of `access_bits` bits; `None` if the target has no bank model for them.
    pub(in super::super) fn phase(&self, access_bits: u32, target: &TargetDescription) -> Option<Phase> {
        let row = target.find_bank_row(self.direction, access_bits)?;
        Some(Phase::new(row, &self.threads[..self.lane_bits as usize]))
    }
}

/// One phase of an accessor: the lanes, or for instructions the slots, that one wavefront serves.
#[derive(Debug, Clone)]
pub(in super::super) struct Phase {
    /// The bases of the phase: for each bit of the index of a lane (for instructions, of a slot) in it, the element
    /// that the bit adds (over F2).
    pub(in super::super) lanes: Columns,
    /// Bytes that one wavefront can move.
    pub(in super::super) wavefront_bytes: u64,
}

impl Phase {
    /// Returns the phase of the bank model `row`; `columns` has the bases of the lane bits (for instructions, of the
    /// slot bits): the elements that they add.
    pub(super) fn new(row: &BankTableEntry, columns: &[u64]) -> Self {
        let phase = row.phase_of(|distance| multiply_vector(columns, distance) == 0);
        let lanes = phase.iter().map(|&lane| multiply_vector(columns, lane)).collect();
        Self { lanes, wavefront_bytes: row.wavefront_bytes() }
    }
}

/// A memory layout, with the solver that finds the offset of an element.
pub(in super::super) struct Memory<'a> {
    /// The element of each offset bit, in coordinates of the memory.
    pub(super) columns: &'a [u64],
    pub(super) padding: &'a [Padding],
    offsets: Solver,
}

impl<'a> Memory<'a> {
    pub(in super::super) fn new(columns: &'a [u64], padding: &'a [Padding]) -> Self {
        Self { columns, padding, offsets: Solver::new(columns) }
    }

    /// Returns the solver for the offset of an element.
    pub(in super::super) fn offsets(&self) -> &Solver {
        &self.offsets
    }

    pub(super) fn offset(&self, vector: u64) -> u64 {
        self.offsets.solve(vector).unwrap_or(0)
    }

    /// Whether padding keeps every aligned group of 2^`bits` elements contiguous and aligned.
    pub(super) fn keeps_together(&self, bits: u32) -> bool {
        self.padding.iter().all(|p| p.interval >> bits != 0 && p.padding.is_multiple_of(1 << bits))
    }

    /// Returns the physical offset, in elements, of a linear offset: the offset plus the padding before it.
    pub(super) fn padded(&self, offset: u64) -> u64 {
        offset + self.padding.iter().map(|p| offset / p.interval * p.padding).sum::<u64>()
    }
}
