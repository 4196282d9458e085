//! Divides a copy by one asynchronous copy instruction among the lanes.

use tilewright_layout::f2::{Columns, Solver, Subspace};
use tilewright_layout::{Dim, LinearLayout};
use tilewright_target::Direction;

use super::issued::plan_lane_copies;
use super::problem::AsyncCopySpec;
use super::row::CopyInstruction;
use super::shared_copy::{AsyncCopyPlan, CopyPath};
use crate::layouts;
use crate::movement::memory::{load_order, locate_registers, plan_global_access};
use crate::movement::{MovementError, PlanContext, predict_cycles};

/// Plans the copy by the instruction `row`, with elements divided among lanes in the order of global memory or of
/// shared memory, whichever is cheaper. The error is the reason why the instruction cannot copy.
pub(super) fn asynchronous(
    problem: &AsyncCopySpec<'_>,
    row: &CopyInstruction<'_>,
    context: &PlanContext<'_>,
) -> Result<AsyncCopyPlan, String> {
    let width = row.elements(problem.element_bits, problem.masked)?.ilog2();
    let (lanes, warps) = (problem.lanes.into(), problem.warps.into());
    let words = |error: MovementError| error.to_string();
    let by_global = load_order(problem.global, width, lanes, warps).map_err(|error| words(error.into()))?;
    let by_memory = in_memory_order(problem, width).map_err(words)?;
    let [first, second] = [by_global, by_memory].map(|layout| of_layout(problem, row, layout, width, context));
    match (first, second) {
        (Ok(first), Ok(second)) if second.rank().lt(&first.rank()) => Ok(second),
        (Ok(copy), _) | (Err(_), Ok(copy)) => Ok(copy),
        // If one address serves all lanes, only the order of shared memory can succeed, so its error is the more useful
        // one.
        (Err(first), Err(second)) => Err(if row.is_consecutive() { second } else { first }),
    }
}

/// Plans the copy by the instruction `row`, which copies 2^`width` elements of each lane; each lane copies its elements
/// of `layout`. The error is the reason why the instruction cannot copy them.
fn of_layout(
    problem: &AsyncCopySpec<'_>,
    row: &CopyInstruction<'_>,
    layout: LinearLayout,
    width: u32,
    context: &PlanContext<'_>,
) -> Result<AsyncCopyPlan, String> {
    let words = |error: MovementError| error.to_string();
    let mut target = context.target.clone();
    target.global.access_bits = vec![8 * row.bytes];
    target.global.alignment_bytes = None;
    if row.alignment[0] > row.bytes {
        return Err("it needs more alignment in global memory than it reads bytes".to_owned());
    }
    let access = plan_global_access(&layout, problem.global, problem.element_bits, Direction::Store, &target);
    let access = access.map_err(|_| format!("{} bytes are not contiguous in global memory", row.bytes))?;
    let side = locate_registers(&layout, problem.memory, problem.element_bits, Direction::Store).map_err(words)?;
    if access.vector_elements != 1 << width {
        return Err("the elements of a lane are not contiguous in global memory".to_owned());
    }
    let (issued, counts) = plan_lane_copies(row, access.register_groups(), &side, problem.memory, context.target)?;
    let cost = predict_cycles(&counts, problem.warps.into(), 1, context.target);
    let transactions = access.transactions;
    let path = CopyPath::Asynchronous(Box::new(issued));
    Ok(AsyncCopyPlan { counts, cost, transactions, layout, rejected: Vec::new(), path })
}

/// Returns the register layout whose elements follow the offsets of shared memory: first 2^`width` registers of a lane,
/// then lanes, then warps, then the other registers.
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
