//! The elements of a block in the coordinates in which scratch memory is laid out, and in which it is
//! filled in rounds.

use smallvec::SmallVec;

use crate::f2::{Columns, Solver, Subspace, multiply};
use crate::target::{BankRow, Direction, linear_wavefronts_without, wavefronts};

use super::super::super::conversion::Side;
use super::super::super::{Conversion, Means};

/// The elements of a block: the first `kept` bits are in memory at one time, the bits above number
/// rounds.
pub(super) struct Coordinates {
    solver: Solver,
    pub(super) basis: Columns,
    pub(super) kept: u32,
    pub(super) rounds: u32,
}

/// One side in coordinates.
pub(super) struct Located {
    pub(super) registers: Columns,
    pub(super) threads: Columns,
    pub(super) direction: Direction,
    /// Registers' columns without what numbers rounds.
    pub(super) kept: Columns,
    /// The span of these.
    pub(super) span: Subspace,
    /// What it reaches beyond its own block.
    pub(super) reach: Reach,
}

/// What a side accesses beyond the memory of its own block.
#[derive(Debug, Clone, Default)]
pub(in super::super) struct Reach {
    /// Whether there is anything.
    pub(in super::super) leaves: bool,
    /// For each lane bit how far away the block is that it leads to; empty where lanes of a warp access one
    /// block's memory.
    pub(in super::super) lanes: Columns,
    /// Log2 of how many times the side does the same, at blocks of other distances.
    pub(in super::super) times: u32,
}

impl Located {
    /// Wavefronts of an access of `bytes` bytes a lane, whose lanes' addresses are these columns: each
    /// memory serves those that access it.
    pub(super) fn wavefronts(&self, row: &BankRow, lanes: &[u64], idle: u64, bytes: u32) -> u64 {
        if self.reach.lanes.iter().all(|&away| away == 0) {
            return linear_wavefronts_without(row, lanes, idle, bytes);
        }
        let all = 0..1u64 << lanes.len();
        let mut blocks: Vec<u64> = all.clone().map(|lane| multiply(&self.reach.lanes, lane)).collect();
        blocks.sort_unstable();
        blocks.dedup();
        let of_block = |&block: &u64| {
            let asks = |lane: u64| lane & idle == 0 && multiply(&self.reach.lanes, lane) == block;
            let addresses = all.clone().map(|lane| asks(lane).then(|| multiply(lanes, lane)));
            wavefronts(row, &addresses.collect::<SmallVec<[Option<u64>; 64]>>(), bytes)
        };
        blocks.iter().map(of_block).sum()
    }
}

impl Coordinates {
    /// Coordinates in which as few rounds are needed as the scratch memory allows.
    pub(super) fn new(conversion: &Conversion, means: &Means<'_>) -> Result<Self, String> {
        let (src, dst) = (&conversion.src, &conversion.dst);
        let of = |side: &Side| Subspace::span(side.registers.iter().chain(&side.threads).copied());
        let all = of(src);
        if !of(dst).basis().iter().all(|&column| all.contains(column)) {
            return Err("a block needs elements that it does not hold".to_owned());
        }
        let elements = means.scratch_bytes / conversion.element_bytes();
        let room = elements.checked_ilog2().ok_or("there is no shared memory")?;
        let rounds = all.dimension().saturating_sub(room);
        let mut taken = Subspace::span(src.threads.iter().chain(&dst.threads).copied());
        let mut kept: Columns = taken.basis().iter().copied().collect();
        let numbering = numbering(conversion, &mut taken, rounds, all.dimension(), means)?;
        let registers = src.registers.iter().chain(&dst.registers).copied();
        kept.extend(registers.filter(|&column| taken.insert(column)));
        kept.sort_by_key(|vector| vector.trailing_zeros());
        let basis: Columns = kept.iter().chain(&numbering).copied().collect();
        Ok(Self { solver: Solver::new(&basis), basis, kept: kept.len() as u32, rounds })
    }

    pub(super) fn located(&self, side: &Side, direction: Direction) -> Located {
        let of = |columns: &[u64]| -> Columns { columns.iter().map(|&c| self.solver.solve(c).unwrap_or(0)).collect() };
        let registers = of(&side.registers);
        let mask = (1 << self.kept) - 1;
        let kept: Columns = registers.iter().map(|column| column & mask).filter(|&column| column != 0).collect();
        let span = Subspace::span(kept.iter().copied());
        Located { registers, threads: of(&side.threads), direction, kept, span, reach: Reach::default() }
    }
}

/// The vectors that number rounds: registers of both sides, so that every thread has its share of
/// each round.
fn numbering(
    conversion: &Conversion,
    taken: &mut Subspace,
    rounds: u32,
    dimension: u32,
    means: &Means<'_>,
) -> Result<Columns, String> {
    let mut numbering = Columns::new();
    if rounds == 0 {
        return Ok(numbering);
    }
    let span = |side: &Side| Subspace::span(side.registers.iter().copied());
    let common = span(&conversion.src).intersection(&span(&conversion.dst));
    for &vector in common.basis().iter().rev() {
        if numbering.len() < rounds as usize && taken.insert(vector) {
            numbering.push(vector);
        }
    }
    if numbering.len() == rounds as usize {
        return Ok(numbering);
    }
    let need = conversion.element_bytes() << dimension;
    let (have, found) = (means.scratch_bytes, numbering.len());
    Err(format!(
        "{need} bytes of scratch are needed and {have} are there; the layouts share {found} register bits by which \
         to split the work, {rounds} are needed"
    ))
}
