//! Counts the wavefronts of unpadded layouts directly, without access plans: the objective that the searches minimize.
//! The counts equal those of the access plans, which are reported.

use tilewright_layout::f2::{Columns, Solver, Subspace};
use tilewright_target::count_masked_linear_wavefronts;

use super::super::tile::{Memory, PlacedAccessor};
use super::lower_bound;
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
        // The unit vectors of the lowest bits are in a space only as the first vectors of its reduced basis.
        let together = own.basis().iter().enumerate().take_while(|&(bit, &vector)| vector == 1 << bit).count() as u32;
        let ordered = match side.context.keeps_order {
            true => side.located.bits_in_order(|column| memory.solve(column).unwrap_or(0)),
            false => together,
        };
        Self { lanes, widest: together.min(alignment_bits).min(ordered) }
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

/// Returns the fewest wavefronts of a warp for the accessor `side` over plain accesses and the access instructions of
/// the table; `None` if none fits.
fn fewest(problem: &SharedLayoutProblem<'_>, side: &Side<'_>, memory: &Memory<'_>) -> Option<u64> {
    let plain = Located::new(side, memory.offsets()).wavefronts(problem, side);
    let placed = PlacedAccessor::new(&side.located, memory, problem.target);
    side.tiles.iter().fold(plain, |fewest, tile| {
        // An instruction that cannot take fewer wavefronts in any memory is not divided.
        let may_take_fewer = |fewest| lower_bound::by_row(problem, side, tile).is_none_or(|bound| bound < fewest);
        match fewest {
            Some(fewest) if !may_take_fewer(fewest) => Some(fewest),
            _ => placed.best_with_words(tile).map(|stats| stats.wavefronts()).into_iter().chain(fewest).min(),
        }
    })
}

/// Returns the wavefronts of the accessors with these indices, each times its weight, in the memory whose offset bit
/// `i` has the element `columns[i]`. Stops at the first sum that is not below `limit`, and returns it.
pub(super) fn weighted(problem: &SharedLayoutProblem<'_>, sides: &[usize], columns: &[u64], limit: u64) -> u64 {
    let memory = Memory::new(columns, &[]);
    let mut total = 0u64;
    for side in sides.iter().map(|&at| &problem.sides[at]) {
        let wavefronts = fewest(problem, side, &memory).unwrap_or(u64::MAX);
        total = total.saturating_add(wavefronts.saturating_mul(side.weight));
        if total >= limit {
            break;
        }
    }
    total
}
