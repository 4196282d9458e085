//! Counts the wavefronts of unpadded layouts directly, without access plans: the objective that the searches minimize.
//! The counts equal those of the access plans, which are reported.

use tilewright_layout::f2::{Columns, Solver, Subspace};
use tilewright_target::count_masked_linear_wavefronts;

use super::super::tile::{Memory, PlacedAccessor};
use super::problem::SharedLayoutProblem;
use super::side::Side;

/// An accessor in a memory layout: the offsets of its lanes, and its widest access.
pub(super) struct Located {
    /// For each lane bit, the offset in elements that it adds (over F2) to the lane's offset.
    pub(super) lanes: Columns,
    /// Log2 of the number of elements in the widest access: this many elements are contiguous in a lane's registers,
    /// and the offsets of all threads are multiples of it.
    pub(super) widest: u32,
}

impl Located {
    /// Finds the offsets of an accessor; `memory` solves for the offset of an element.
    pub(super) fn new(side: &Side<'_>, memory: &Solver) -> Self {
        let of = |columns: &[u64]| -> Columns { columns.iter().map(|&c| memory.solve(c).unwrap_or(0)).collect() };
        let (registers, lanes, warps) = (of(side.span().basis()), of(side.lanes()), of(side.warps()));
        let own = Subspace::span(registers);
        let alignment_bits = lanes.iter().chain(&warps).fold(0, |all, column| all | column).trailing_zeros();
        let together = (0..64).take_while(|&bit| own.contains(1 << bit)).count() as u32;
        Self { lanes, widest: together.min(alignment_bits) }
    }

    /// Returns the fewest wavefronts of a warp for this accessor over plain accesses of any width; `None` if the target
    /// has no such access.
    fn wavefronts(&self, problem: &SharedLayoutProblem<'_>, side: &Side<'_>) -> Option<u64> {
        let bytes = problem.element_bytes();
        let lanes: Columns = self.lanes.iter().map(|offset| offset * bytes).collect();
        let at = |width: u32| {
            let row = problem.row(side, width)?;
            let one = count_masked_linear_wavefronts(row, &lanes, side.idle_lanes(), (bytes as u32) << width);
            Some(one << side.accesses(width)?)
        };
        (0..=self.widest.min(problem.widest())).filter_map(at).min()
    }
}

/// Returns the fewest wavefronts of a warp for the accessor `side` over the access instructions of the table, in the
/// memory whose offset bits have the elements `columns`; `None` if no instruction fits.
fn by_rows(problem: &SharedLayoutProblem<'_>, side: &Side<'_>, columns: &[u64]) -> Option<u64> {
    if side.tiles.is_empty() {
        return None;
    }
    let memory = Memory::new(columns, &[]);
    let placed = PlacedAccessor::new(&side.located, &memory, problem.target);
    side.tiles.iter().filter_map(|tile| Some(placed.best_with_words(tile)?.wavefronts())).min()
}

/// Returns the wavefronts of the accessors with these indices, each times its weight, in the memory whose offset bit
/// `i` has the element `columns[i]`.
pub(super) fn weighted(problem: &SharedLayoutProblem<'_>, sides: &[usize], columns: &[u64]) -> u64 {
    let memory = Solver::new(columns);
    let of = |&at: &usize| {
        let side = &problem.sides[at];
        let plain = Located::new(side, &memory).wavefronts(problem, side);
        let wavefronts = plain.into_iter().chain(by_rows(problem, side, columns)).min().unwrap_or(u64::MAX);
        wavefronts.saturating_mul(side.weight)
    };
    sides.iter().map(of).fold(0, u64::saturating_add)
}
