//! Work sharing among replicas: threads that hold the same elements divide them before a store.
//!
//! If a thread bit only selects a replica, the threads on both sides of it hold the same elements. Each can store half
//! of them: a select for every word chooses the half by the thread bit, and the store takes half as many accesses. It
//! pays if the accesses of more lanes fit into the same wavefronts, or if other warps take a part of them.

use smallvec::SmallVec;

use super::{LocatedAccessor, PlacedAccessor, Source, Tile};
use tilewright_layout::f2::{Columns, Solver, Subspace, multiply_vector};
use tilewright_target::Direction;

/// The division of a store's elements along one thread bit: threads with the bit set store other elements than threads
/// without it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in super::super) struct Share {
    /// The index of the thread bit: lane bits, then warp bits.
    pub(in super::super) thread: u32,
    /// The xor of the elements that the two threads store; each of them has both elements in its registers.
    pub(in super::super) column: u64,
}

impl LocatedAccessor {
    /// Returns the thread bits of a store that can share its work by selects: warps that cannot share whole accesses,
    /// then lanes.
    pub(in super::super) fn sharing(&self) -> SmallVec<[u32; 4]> {
        if self.direction != Direction::Store || !self.rounds.is_empty() || self.reach.leaves {
            return SmallVec::new();
        }
        let idle = |&bit: &u32| self.idle >> bit & 1 == 1;
        let alike: SmallVec<[u32; 4]> = self.alike().collect();
        let warps = (self.lane_bits..self.threads.len() as u32).filter(idle).filter(|bit| !alike.contains(bit));
        warps.chain((0..self.lane_bits).filter(idle)).collect()
    }

    /// Returns the store with its work shared by threads with replicas: the threads with and without the thread bit
    /// `bits[i]` store elements that differ by `given[i]`. `kept` spans the elements that each thread still stores.
    pub(in super::super) fn shared_along(&self, bits: &[u32], given: &[u64], kept: Columns) -> Self {
        let mut shared = self.clone();
        let holding = self.threads.iter().enumerate().filter(|(bit, _)| self.idle >> bit & 1 == 0);
        let holders: Columns = self.kept.iter().copied().chain(holding.map(|(_, &column)| column)).collect();
        let (solver, registers) = (Solver::new(&holders), (1u64 << self.kept.len()) - 1);
        for (&thread, &column) in bits.iter().zip(given) {
            // A replica may be in other registers than the elements that it repeats.
            let found = solver.solve(self.threads[thread as usize]).unwrap_or(0);
            let column = column ^ multiply_vector(&self.kept, found & registers);
            shared.threads[thread as usize] ^= column;
            shared.idle &= !(1 << thread);
            shared.shares.push(Share { thread, column });
        }
        shared.span = Subspace::span(kept.iter().copied());
        shared.kept = kept;
        shared
    }
}

impl PlacedAccessor<'_> {
    /// Returns alternatives of a store by the instruction `tile`, with the elements divided among the threads that hold
    /// them. The first alternative divides the elements along one bit of the thread index, the second along two bits,
    /// and so on. A lane bit is left out if lanes that differ in it would access the same banks, since bank conflicts
    /// would undo the gain.
    pub(in super::super) fn shared_stores(&self, tile: &Tile<'_>) -> Vec<LocatedAccessor> {
        let bits = self.side.sharing();
        if bits.is_empty() {
            return Vec::new();
        }
        self.shares_by(tile, &bits).unwrap_or_default()
    }

    fn shares_by(&self, tile: &Tile<'_>, bits: &[u32]) -> Option<Vec<LocatedAccessor>> {
        let row = tile.bank_row(self.target)?;
        let byte_bits = self.side.byte_bits() as usize;
        let vector_bits = tile.segment_bits().checked_sub(byte_bits as u32)?;
        let vector = self.memory.columns.get(..vector_bits as usize)?;
        let in_lane = |source: &Source| matches!(source, Source::Byte(_));
        let own = vector.iter().zip(&tile.in_segment[byte_bits..]).filter(|(_, source)| in_lane(source));
        let own: Columns = own.map(|(&column, _)| column).collect();
        // A lane stores only elements of its own registers.
        if !own.iter().all(|&column| self.side.span.contains(column)) {
            return None;
        }
        let mut steps = self.segment_registers(vector_bits)?;
        let line = (row.wavefront_bytes() >> byte_bits).max(1);
        let bank = |column: u64| self.memory.offset(column) & (line - 1) & !((1 << vector_bits) - 1);
        let active = (0..self.side.lane_bits).filter(|bit| self.side.idle >> bit & 1 == 0).map(|bit| 1u64 << bit);
        let phase = Subspace::span(row.phase.iter().copied());
        let lanes = phase.intersection(&Subspace::span(active));
        let at = |&lane: &u64| bank(multiply_vector(&self.side.threads[..self.side.lane_bits as usize], lane));
        let mut banks = Subspace::span(lanes.basis().iter().map(at));
        let (mut taken, mut given, mut all) = (SmallVec::<[u32; 4]>::new(), Columns::new(), Vec::new());
        for &bit in bits {
            let is_lane = bit < self.side.lane_bits;
            let is_served = tile.name.is_some() || phase.contains(1 << bit);
            let fits = |&column: &u64| !is_lane || is_served && !banks.contains(bank(column));
            let Some(found) = steps.iter().rposition(fits) else { continue };
            let column = steps.remove(found);
            if is_lane {
                banks.insert(bank(column));
            }
            taken.push(bit);
            given.push(column);
            all.push(self.side.shared_along(&taken, &given, own.iter().chain(&steps).copied().collect()));
        }
        Some(all)
    }
}
