//! The accesses of one side, one by one.

use smallvec::SmallVec;

use super::{Located, Placed, TileStats};
use crate::movement::{Bound, SharedBits};
use tilewright_kernel::{Counts, Element};
use tilewright_layout::f2::{Columns, Solver, multiply};
use tilewright_target::Direction;

/// The accesses of one side. Accesses of a round and rounds are numbered; what a number's bit adds is
/// listed.
#[derive(Debug, Clone)]
pub(in super::super) struct Accesses {
    pub(in super::super) stats: TileStats,
    pub(super) element: Element,
    direction: Direction,
    pub(super) lane_bits: u32,
    /// For each element bit of an access the register.
    elements: Columns,
    /// For each bit of an access's number the offset, in elements, and the register.
    steps: SmallVec<[(u64, u64); 16]>,
    /// For each bit of a round's number the register.
    rounds: Columns,
    /// For each bit of a register's number the register that is moved for it.
    moved_as: Columns,
}

/// One access: a constant part of the offset, in elements, and the registers of the vector.
#[derive(Debug, Clone)]
pub(super) struct Access {
    pub(super) offset: u64,
    pub(super) registers: SmallVec<[u64; 16]>,
    /// The bits of [`TileStats::idle`] in the threads that make it.
    pub(super) made_by: u64,
}

impl Accesses {
    /// The accesses that the figures count; `None` where registers do not hold whole vectors.
    pub(in super::super) fn new(stats: TileStats, placed: &Placed<'_>) -> Option<Self> {
        let (side, memory) = (placed.side, placed.memory);
        let parts = match stats.parts.as_deref() {
            Some(parts) => parts.clone(),
            None => placed.plain_parts(stats.width)?,
        };
        let registers = Solver::new(&side.registers);
        let register = |vector: u64| registers.solve(vector).unwrap_or(0);
        let Located { element, direction, lane_bits, .. } = *side;
        Some(Self {
            element,
            direction,
            lane_bits,
            elements: parts.elements.iter().map(|&column| register(column)).collect(),
            steps: parts.steps.iter().map(|&whole| (memory.offset(whole), register(whole))).collect(),
            rounds: side.rounds.iter().map(|&round| register(round)).collect(),
            moved_as: side.registers.iter().map(|&column| register(column)).collect(),
            stats,
        })
    }

    /// Accesses of a round.
    pub(super) fn of_round(&self, round: u64) -> impl Iterator<Item = Access> {
        let in_round = multiply(&self.rounds, round);
        (0..1u64 << self.steps.len()).map(move |number| {
            let (mut offset, mut register) = (0, in_round);
            for (bit, step) in self.steps.iter().enumerate() {
                if number >> bit & 1 == 1 {
                    offset ^= step.0;
                    register ^= step.1;
                }
            }
            let registers = (0..self.vector_elements()).map(|element| register ^ multiply(&self.elements, element));
            let shared = self.stats.shared_by.iter().enumerate();
            let made_by = shared.fold(0, |bits, (at, by)| bits | (number >> at & 1) << by);
            Access { offset, registers: registers.collect(), made_by }
        })
    }

    /// Elements that a lane moves in an access.
    pub(in super::super) fn vector_elements(&self) -> u64 {
        1 << self.stats.width
    }

    /// Bytes that a lane moves in an access.
    fn bytes(&self) -> u64 {
        self.vector_elements() * u64::from(self.element.bits() / 8)
    }

    /// Bytes of which the addresses of accesses are multiples.
    pub(in super::super) fn alignment(&self) -> u64 {
        1 << self.stats.slot_bits
    }

    /// The row by which registers move; plain accesses where there is none.
    pub(in super::super) fn instruction(&self) -> Option<&str> {
        self.stats.instruction.as_deref()
    }

    /// The registers that there are.
    pub(super) fn registers(&self) -> u64 {
        1 << self.moved_as.len()
    }

    /// The register that is moved for another, which holds the same.
    pub(super) fn moved_as(&self, register: u64) -> u64 {
        multiply(&self.moved_as, register)
    }

    /// The counts of a warp whose accesses take so many wavefronts.
    pub(in super::super) fn counts(&self, wavefronts: u64) -> Counts {
        let issued = self.stats.issued();
        let (plain, by_row) = if self.instruction().is_some() { (0, issued) } else { (issued, 0) };
        match self.direction {
            Direction::Store => Counts {
                shared_stores: plain,
                matrix_stores: by_row,
                wavefronts_stored: wavefronts,
                ..Counts::default()
            },
            Direction::Load => {
                Counts { shared_loads: plain, matrix_loads: by_row, wavefronts_loaded: wavefronts, ..Counts::default() }
            }
        }
    }

    /// Bits that a lane moves in all accesses.
    pub(in super::super) fn shared_bits(&self) -> SharedBits {
        let bits = self.stats.elements() * u64::from(self.element.bits());
        match self.direction {
            Direction::Store => SharedBits { stored: bits, loaded: 0 },
            Direction::Load => SharedBits { stored: 0, loaded: bits },
        }
    }

    /// Reason why the accesses take more wavefronts than the bound; `None` if they do not.
    pub(in super::super) fn why_above(&self, counts: &Counts, bound: &Bound) -> Option<String> {
        let (what, have, least) = match self.direction {
            Direction::Store => ("stores", counts.wavefronts_stored, bound.wavefronts_stored),
            Direction::Load => ("loads", counts.wavefronts_loaded, bound.wavefronts_loaded),
        };
        let copies = if self.stats.idle & ((1 << self.lane_bits) - 1) == 0 {
            ""
        } else {
            ", and lanes that hold copies sit out: a share for each costs selects"
        };
        let (bytes, each) = (self.bytes(), self.stats.each);
        let reason = format!(
            "{what}: {have} wavefronts against {least}: each access moves {bytes} bytes a lane in {each} wavefronts{copies}"
        );
        (have > least).then_some(reason)
    }
}
