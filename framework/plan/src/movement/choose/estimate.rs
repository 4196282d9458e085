//! The wavefronts of layouts without gaps, without planning the accesses: what leads a search. Always
//! what the plans count, whose figures are the ones that are reported.

use tilewright_layout::f2::{Columns, Solver, Subspace};
use tilewright_target::linear_wavefronts_without;

use super::super::tile::{Memory, Placed};
use super::problem::Question;
use super::side::Side;

/// Where one side lies in memory.
pub(super) struct Located {
    /// Offsets of the lane bits, in elements.
    pub(super) lanes: Columns,
    /// Log2 of the most elements that an access can take: side by side in a lane's registers, and at the
    /// same place of the vector in all threads.
    pub(super) widest: u32,
}

impl Located {
    /// `memory` solves for offsets.
    pub(super) fn new(side: &Side<'_>, memory: &Solver) -> Self {
        let of = |columns: &[u64]| -> Columns { columns.iter().map(|&c| memory.solve(c).unwrap_or(0)).collect() };
        let (registers, lanes, warps) = (of(side.registers()), of(side.lanes()), of(side.warps()));
        let own = Subspace::span(registers);
        let apart = lanes.iter().chain(&warps).fold(0, |all, column| all | column).trailing_zeros();
        let together = (0..64).take_while(|&bit| own.contains(1 << bit)).count() as u32;
        Self { lanes, widest: together.min(apart) }
    }

    /// By plain accesses.
    fn wavefronts(&self, problem: &Question<'_>, side: &Side<'_>) -> Option<u64> {
        let bytes = problem.element_bytes();
        let lanes: Columns = self.lanes.iter().map(|offset| offset * bytes).collect();
        let at = |width: u32| {
            let row = problem.row(side, width)?;
            let one = linear_wavefronts_without(row, &lanes, side.idle_lanes(), (bytes as u32) << width);
            Some(one << side.accesses(width)?)
        };
        (0..=self.widest.min(problem.widest())).filter_map(at).min()
    }
}

/// By rows of the instruction table.
fn by_rows(problem: &Question<'_>, side: &Side<'_>, columns: &[u64]) -> Option<u64> {
    if side.tiles.is_empty() {
        return None;
    }
    let memory = Memory::new(columns, &[]);
    let placed = Placed::new(&side.located, &memory, problem.target);
    side.tiles.iter().filter_map(|tile| Some(placed.best_by(tile)?.wavefronts())).min()
}

/// The wavefronts of the given sides, each by its weight, in the memory whose offset bits stand for
/// `columns`.
pub(super) fn weighted(problem: &Question<'_>, sides: &[usize], columns: &[u64]) -> u64 {
    let memory = Solver::new(columns);
    let of = |&at: &usize| {
        let side = &problem.sides[at];
        let plain = Located::new(side, &memory).wavefronts(problem, side);
        let wavefronts = plain.into_iter().chain(by_rows(problem, side, columns)).min().unwrap_or(u64::MAX);
        wavefronts.saturating_mul(side.weight)
    };
    sides.iter().map(of).fold(0, u64::saturating_add)
}
