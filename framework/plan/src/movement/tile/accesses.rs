//! Enumerates the shared-memory accesses of one accessor (a store or load of a tensor).

use smallvec::SmallVec;

use super::{LocatedAccessor, PlacedAccessor, TileStats};
use crate::movement::{CountLowerBounds, SharedMemoryBitsPerLane};
use tilewright_kernel::{Counts, Element};
use tilewright_layout::f2::{Columns, Solver, multiply_vector};
use tilewright_target::Direction;

/// The accesses of one accessor (a store or load of a tensor), as linear maps of the bits of the round index and of the
/// access index. A round is one filling of the shared memory.
#[derive(Debug, Clone)]
pub(in super::super) struct Accesses {
    pub(in super::super) stats: TileStats,
    pub(super) element: Element,
    direction: Direction,
    pub(super) lane_bits: u32,
    /// For each bit of the element's index in an access, the bits of the register index that it flips.
    elements: Columns,
    /// For each bit of the access index, the offset (in elements) that it adds over F2, and the bits of the register
    /// index that it flips.
    steps: SmallVec<[(u64, u64); 16]>,
    /// The offset, in elements, that is added over F2 to the offsets of all accesses.
    start: u64,
    /// For each bit of the round's index, the bits of the register index that it flips; a round is one filling of the
    /// shared memory.
    rounds: Columns,
    /// For each register bit, the register whose value is moved in its place: another register if this one holds a
    /// replica.
    moved_as: Columns,
    /// For each thread bit along which threads share the work of replicas, the bits of the register index that it flips
    /// in every access.
    pub(super) shares: SmallVec<[(u32, u64); 2]>,
}

/// One access of a lane: the constant part of its offset, in elements, and the registers whose elements it moves.
#[derive(Debug, Clone)]
pub(super) struct Access {
    pub(super) offset: u64,
    pub(super) registers: SmallVec<[u64; 16]>,
    /// The value that a thread's index bits in the mask [`TileStats::idle`] must have for the thread to make the
    /// access: it selects one of several replicas.
    pub(super) issuer: u64,
}

impl Accesses {
    /// Enumerates the accesses that `stats` counts; `None` if the registers of a lane do not fill whole accesses.
    pub(in super::super) fn new(stats: TileStats, placed: &PlacedAccessor<'_>) -> Option<Self> {
        let (side, memory) = (placed.side, placed.memory);
        let access_columns = match stats.access_columns.as_deref() {
            Some(access_columns) => access_columns.clone(),
            None => placed.plain_access_columns(stats.width)?,
        };
        let registers = Solver::new(&side.registers);
        let register = |vector: u64| registers.solve(vector).unwrap_or(0);
        let LocatedAccessor { element, direction, lane_bits, .. } = *side;
        Some(Self {
            element,
            direction,
            lane_bits,
            elements: access_columns.elements.iter().map(|&column| register(column)).collect(),
            steps: access_columns.steps.iter().map(|&column| (memory.offset(column), register(column))).collect(),
            start: 0,
            rounds: side.rounds.iter().map(|&round| register(round)).collect(),
            moved_as: side.registers.iter().map(|&column| register(column)).collect(),
            shares: side.shares.iter().map(|share| (share.thread, register(share.column))).collect(),
            stats,
        })
    }

    /// Returns the accesses of one round (filling of the shared memory).
    pub(super) fn of_round(&self, round: u64) -> impl Iterator<Item = Access> {
        let in_round = multiply_vector(&self.rounds, round);
        (0..1u64 << self.steps.len()).map(move |index| {
            let (mut offset, mut register) = (self.start, in_round);
            for (bit, step) in self.steps.iter().enumerate() {
                if index >> bit & 1 == 1 {
                    offset ^= step.0;
                    register ^= step.1;
                }
            }
            let registers =
                (0..self.vector_elements()).map(|element| register ^ multiply_vector(&self.elements, element));
            let shared = self.stats.shared_by.iter().enumerate();
            let issuer = shared.fold(0, |bits, (at, by)| bits | (index >> at & 1) << by);
            Access { offset, registers: registers.collect(), issuer }
        })
    }

    /// Returns the same accesses with the offset `start`, in elements, added over F2 to all their offsets. `None` if it
    /// is no multiple of their alignment.
    pub(in super::super) fn starting_at(self, start: u64) -> Option<Self> {
        let bytes = start * u64::from(self.element.bits() / 8);
        bytes.is_multiple_of(self.alignment()).then_some(Self { start, ..self })
    }

    /// Returns the number of elements that a lane moves in one access.
    pub(in super::super) fn vector_elements(&self) -> u64 {
        1 << self.stats.width
    }

    /// Returns the number of bytes that a lane moves in one access.
    fn bytes(&self) -> u64 {
        self.vector_elements() * u64::from(self.element.bits() / 8)
    }

    /// Returns the alignment of the addresses of all accesses, in bytes.
    pub(in super::super) fn alignment(&self) -> u64 {
        1 << self.stats.segment_bits
    }

    /// Returns the name of the instruction that makes the accesses; `None` for plain accesses.
    pub(in super::super) fn instruction(&self) -> Option<&str> {
        self.stats.instruction.as_deref()
    }

    /// Returns the number of registers of a lane in the accessor's layout.
    pub(super) fn registers(&self) -> u64 {
        1 << self.moved_as.len()
    }

    /// Returns the register that is moved in place of `register`, if that is a replica; otherwise `register` itself.
    pub(super) fn moved_as(&self, register: u64) -> u64 {
        multiply_vector(&self.moved_as, register)
    }

    /// Returns the operation counts of a warp for these accesses, which together take `wavefronts` wavefronts.
    pub(in super::super) fn counts(&self, wavefronts: u64) -> Counts {
        let issued = self.stats.issued();
        let (plain, by_row) = if self.instruction().is_some() { (0, issued) } else { (issued, 0) };
        match self.direction {
            Direction::Store => Counts {
                shared_stores: plain,
                matrix_stores: by_row,
                wavefronts_stored: wavefronts,
                selects: self.stats.selects(self.element.bits()),
                ..Counts::default()
            },
            Direction::Load => {
                Counts { shared_loads: plain, matrix_loads: by_row, wavefronts_loaded: wavefronts, ..Counts::default() }
            }
        }
    }

    /// Returns the number of bits that a lane stores, or loads, in all accesses.
    pub(in super::super) fn shared_bits(&self) -> SharedMemoryBitsPerLane {
        let bits = self.stats.elements() * u64::from(self.element.bits());
        match self.direction {
            Direction::Store => SharedMemoryBitsPerLane { stored: bits, loaded: 0 },
            Direction::Load => SharedMemoryBitsPerLane { stored: 0, loaded: bits },
        }
    }

    /// Returns the reason why the accesses take more wavefronts than the bound, as text; `None` if they do not.
    pub(in super::super) fn why_above(&self, counts: &Counts, bound: &CountLowerBounds) -> Option<String> {
        let (what, have, least) = match self.direction {
            Direction::Store => ("stores", counts.wavefronts_stored, bound.wavefronts_stored),
            Direction::Load => ("loads", counts.wavefronts_loaded, bound.wavefronts_loaded),
        };
        let copies = if self.stats.idle & ((1 << self.lane_bits) - 1) == 0 {
            ""
        } else {
            ", and lanes with replicas are idle: dividing the work costs selects"
        };
        let (bytes, each) = (self.bytes(), self.stats.each);
        let reason = format!(
            "{what}: {have} wavefronts against {least}: each access moves {bytes} bytes a lane in {each} wavefronts{copies}"
        );
        (have > least).then_some(reason)
    }
}
