//! How the lanes of a warp share a copy by one row.

use tilewright_layout::f2::{Columns, Solver, Subspace};
use tilewright_layout::{Dim, LinearLayout};
use tilewright_target::Direction;

use super::issued::issued;
use super::problem::AsyncCopySpec;
use super::row::CopyRow;
use super::shared_copy::{SharedCopy, Way};
use crate::layouts;
use crate::movement::memory::{access_global, load_order, located};
use crate::movement::{MovementError, PlanContext, cost};

/// The best copy by one row; why there is none.
pub(super) fn asynchronous(
    problem: &AsyncCopySpec<'_>,
    row: &CopyRow<'_>,
    context: &PlanContext<'_>,
) -> Result<SharedCopy, String> {
    let width = row.elements(problem.element_bits, problem.masked)?.ilog2();
    let (lanes, warps) = (problem.lanes.into(), problem.warps.into());
    let words = |error: MovementError| error.to_string();
    let by_global = load_order(problem.global, width, lanes, warps).map_err(|error| words(error.into()))?;
    let by_memory = in_memory_order(problem, width).map_err(words)?;
    let [first, second] = [by_global, by_memory].map(|layout| of_layout(problem, row, layout, width, context));
    match (first, second) {
        (Ok(first), Ok(second)) if second.rank().lt(&first.rank()) => Ok(second),
        (Ok(copy), _) | (Err(_), Ok(copy)) => Ok(copy),
        // How the tensor lies in shared memory says more of why it does not go there.
        (Err(first), Err(second)) => Err(if row.is_consecutive() { second } else { first }),
    }
}

/// The copy in which lanes bring what this layout says.
fn of_layout(
    problem: &AsyncCopySpec<'_>,
    row: &CopyRow<'_>,
    layout: LinearLayout,
    width: u32,
    context: &PlanContext<'_>,
) -> Result<SharedCopy, String> {
    let words = |error: MovementError| error.to_string();
    let mut target = context.target.clone();
    target.global.access_bits = vec![8 * row.bytes];
    if row.alignment[0] > row.bytes {
        return Err("it asks for more alignment in global memory than it reads".to_owned());
    }
    let access = access_global(&layout, problem.global, problem.element_bits, Direction::Store, &target);
    let access = access.map_err(|_| format!("{} bytes do not lie together in global memory", row.bytes))?;
    let side = located(&layout, problem.memory, problem.element_bits, Direction::Store).map_err(words)?;
    if access.vector_elements != 1 << width {
        return Err("what a lane brings does not lie together in global memory".to_owned());
    }
    let (issued, counts) = issued(row, access.groups(), &side, problem.memory, context.target)?;
    let cost = cost(&counts, problem.warps.into(), 1, context.target);
    let transactions = access.transactions;
    let way = Way::Asynchronous(Box::new(issued));
    Ok(SharedCopy { counts, cost, transactions, layout, rejected: Vec::new(), way })
}

/// The layout in which 2^`width` registers, then lanes, then warps, then the other registers follow each other in
/// shared memory.
fn in_memory_order(problem: &AsyncCopySpec<'_>, width: u32) -> Result<LinearLayout, MovementError> {
    let linear = &problem.memory.linear;
    let mut space = Subspace::zero();
    let offsets = linear.columns_of(Dim::OFFSET);
    let mut rest = offsets.iter().copied().filter(|&column| space.insert(column)).collect::<Columns>().into_iter();
    let mut registers: Columns = rest.by_ref().take(width as usize).collect();
    let mut threads = |count: u32| {
        let mut columns: Columns = rest.by_ref().take(count as usize).collect();
        columns.resize(count as usize, 0);
        columns
    };
    let lanes = threads(problem.lanes.trailing_zeros());
    let warps = threads(problem.warps.trailing_zeros());
    registers.extend(rest);
    debug_assert!(Solver::new(&registers).free_columns() == 0);
    let dims = [(Dim::REGISTER, registers), (Dim::LANE, lanes), (Dim::WARP, warps)];
    Ok(layouts::of_dims(&dims, linear.outs())?)
}
