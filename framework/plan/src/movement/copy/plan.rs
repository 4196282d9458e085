//! Plans copies from global to shared memory: the candidates, and the best of them.

use super::asynchronous::asynchronous;
use super::boxes;
use super::problem::AsyncCopySpec;
use super::row::CopyRow;
use super::shared_copy::{SharedCopy, Way};
use crate::movement::memory::{GlobalTensor, access_global, access_shared, coalesced_layout};
use crate::movement::{ConsecutiveCopy, MovementError, PlanContext, Rejected, cost, slots};
use tilewright_target::{Direction, Instruction};

/// The best way to copy a tensor to shared memory, by the given means: rows that copy asynchronously, or plain
/// accesses.
///
/// # Errors
/// [`MovementError`]: elements of no known width, another tensor in memory than in global memory, sizes that are no
/// powers of two, a target without accesses of the element's width.
pub fn copy_to_shared<'a>(
    problem: &AsyncCopySpec<'_>,
    context: impl Into<PlanContext<'a>>,
) -> Result<SharedCopy, MovementError> {
    let context = context.into();
    let mut best = plain(problem, &context)?;
    let mut rejected = Vec::new();
    let mut close = |name: &str, reason: String| rejected.push(Rejected { candidate: name.to_owned(), reason });
    for row in context.instructions.iter().filter_map(CopyRow::of) {
        match asynchronous(problem, &row, &context) {
            Ok(copy) if copy.rank().lt(&best.rank()) => best = copy,
            Ok(copy) => {
                let (units, slots) = (copy.transactions, slots(&copy.counts));
                let reason = format!("it takes {units} units of global memory and {slots} wavefront slots of a warp");
                close(row.name, reason);
            }
            Err(reason) => close(row.name, reason),
        }
    }
    let (boxes, others) = boxes::by_tensor_copies(problem, Direction::Store, &context);
    others.into_iter().for_each(|one| close(&one.candidate, one.reason));
    if let (Some(copy), Way::Plain(both)) = (boxes, plain(problem, &context)?.way) {
        let cost = cost(&copy.counts, problem.warps.into(), 1, context.target);
        let (layout, (load, store)) = (best.layout.clone(), *both);
        let (counts, transactions) = (copy.counts, copy.transactions);
        let way = Way::Boxes(Box::new((copy, load, store)));
        let copy = SharedCopy { counts, cost, transactions, layout, rejected: Vec::new(), way };
        if copy.rank().lt(&best.rank()) {
            best = copy;
        } else if let Some(name) = copy.instruction() {
            let reason = format!("it takes {transactions} units of global memory");
            close(name, reason);
        }
    }
    Ok(SharedCopy { rejected, ..best })
}

/// The copies by which a table's rows write consecutively what consecutive lanes fetch: for a memory layout that they
/// can fill, the widest such row says what a lane fetches at a time.
#[must_use]
pub fn consecutive_copy(instructions: &[Instruction], global: &GlobalTensor) -> Option<ConsecutiveCopy> {
    let rows = instructions.iter().filter_map(CopyRow::of).filter(CopyRow::is_consecutive);
    let widest = rows.map(|row| 8 * row.bytes).max()?;
    Some(ConsecutiveCopy { global: global.clone(), access_bits: widest })
}

/// Loads to registers and stores from there.
fn plain(problem: &AsyncCopySpec<'_>, context: &PlanContext<'_>) -> Result<SharedCopy, MovementError> {
    let AsyncCopySpec { global, memory, element_bits, lanes, warps, .. } = *problem;
    let layout = coalesced_layout(global, element_bits, lanes.into(), warps.into(), context.target)?;
    let load = access_global(&layout, global, element_bits, Direction::Load, context.target)?;
    let store = access_shared(&layout, memory, element_bits, Direction::Store, context.with_instructions(&[]))?;
    Ok(SharedCopy {
        counts: store.stats.counts,
        cost: store.stats.cost,
        transactions: load.transactions,
        layout,
        rejected: Vec::new(),
        way: Way::Plain(Box::new((load, store))),
    })
}
