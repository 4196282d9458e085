//! The elements of a block in the coordinates in which scratch memory is laid out, and in which it is
//! filled in rounds.

use tilewright_layout::f2::{Columns, Solver, Subspace};
use tilewright_target::Direction;

use super::super::super::conversion::Side;
use super::super::super::tile::Located;
use super::super::super::{Conversion, PlanContext};

/// The elements of a block: the first `kept` bits are in memory at one time, the bits above number
/// rounds.
pub(super) struct Coordinates {
    solver: Solver,
    pub(super) basis: Columns,
    pub(super) kept: u32,
    rounds: u32,
}

impl Coordinates {
    /// Coordinates in which as few rounds are needed as the scratch memory allows.
    pub(super) fn new(conversion: &Conversion, context: &PlanContext<'_>) -> Result<Self, String> {
        let (src, dst) = (&conversion.src, &conversion.dst);
        let of = |side: &Side| Subspace::span(side.registers.iter().chain(&side.threads).copied());
        let all = of(src);
        if !of(dst).basis().iter().all(|&column| all.contains(column)) {
            return Err("a block needs elements that it does not hold".to_owned());
        }
        let elements = context.scratch_bytes / conversion.element_bytes();
        let room = elements.checked_ilog2().ok_or("there is no shared memory")?;
        let rounds = all.dimension().saturating_sub(room);
        let mut taken = Subspace::span(src.threads.iter().chain(&dst.threads).copied());
        let mut kept: Columns = taken.basis().iter().copied().collect();
        let numbering = numbering(conversion, &mut taken, rounds, all.dimension(), context)?;
        let registers = src.registers.iter().chain(&dst.registers).copied();
        kept.extend(registers.filter(|&column| taken.insert(column)));
        kept.sort_by_key(|vector| vector.trailing_zeros());
        let basis: Columns = kept.iter().chain(&numbering).copied().collect();
        Ok(Self { solver: Solver::new(&basis), basis, kept: kept.len() as u32, rounds })
    }

    pub(super) fn located(&self, conversion: &Conversion, side: &Side, direction: Direction) -> Located {
        let of = |columns: &[u64]| -> Columns { columns.iter().map(|&c| self.solver.solve(c).unwrap_or(0)).collect() };
        let accessed = (conversion.element, direction, conversion.lane_bits);
        Located::new(accessed, of(&side.registers), of(&side.threads), (self.kept, self.rounds))
    }
}

/// The vectors that number rounds: registers of both sides, so that every thread has its share of
/// each round.
fn numbering(
    conversion: &Conversion,
    taken: &mut Subspace,
    rounds: u32,
    dimension: u32,
    context: &PlanContext<'_>,
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
    let (have, found) = (context.scratch_bytes, numbering.len());
    Err(format!(
        "{need} bytes of scratch are needed and {have} are there; the layouts share {found} register bits by which \
         to split the work, {rounds} are needed"
    ))
}
