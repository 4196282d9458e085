//! Coordinates of a block's elements in scratch memory: the offset, and the round (one filling of the memory) that
//! moves the element.

use tilewright_layout::f2::{Columns, Solver, Subspace};
use tilewright_target::Direction;

use super::super::super::conversion::ConversionSide;
use super::super::super::tile::LocatedAccessor;
use super::super::super::{ConversionProblem, PlanContext};

/// Coordinates of a block's elements. The first `kept` bits are the offset in scratch memory, the bits above are the
/// number of the round, a filling of that memory.
pub(super) struct Coordinates {
    solver: Solver,
    pub(super) basis: Columns,
    pub(super) kept: u32,
    rounds: u32,
}

impl Coordinates {
    /// Finds coordinates with the fewest rounds: in each round the scratch memory is filled with as many elements as
    /// fit.
    pub(super) fn new(conversion: &ConversionProblem, context: &PlanContext<'_>) -> Result<Self, String> {
        let (src, dst) = (&conversion.src, &conversion.dst);
        let of = |side: &ConversionSide| Subspace::span(side.registers.iter().chain(&side.threads).copied());
        let all = of(src);
        if !of(dst).basis().iter().all(|&column| all.contains(column)) {
            return Err("a block needs elements that it does not have".to_owned());
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

    pub(super) fn located(
        &self,
        conversion: &ConversionProblem,
        side: &ConversionSide,
        direction: Direction,
    ) -> LocatedAccessor {
        let of = |columns: &[u64]| -> Columns { columns.iter().map(|&c| self.solver.solve(c).unwrap_or(0)).collect() };
        let accessed = (conversion.element, direction, conversion.lane_bits);
        LocatedAccessor::new(accessed, of(&side.registers), of(&side.threads), (self.kept, self.rounds))
    }
}

/// Returns one element for each of the `rounds` bits of the round's number: the element that the bit adds (a round is
/// one filling of scratch memory). They are in the registers of both sides, so every thread has an equal share of each
/// round. They are independent of `taken`, to which they are added. An error if there are too few; its text has the
/// bytes of all 2^`dimension` elements.
fn numbering(
    conversion: &ConversionProblem,
    taken: &mut Subspace,
    rounds: u32,
    dimension: u32,
    context: &PlanContext<'_>,
) -> Result<Columns, String> {
    let mut numbering = Columns::new();
    if rounds == 0 {
        return Ok(numbering);
    }
    let span = |side: &ConversionSide| Subspace::span(side.registers.iter().copied());
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
