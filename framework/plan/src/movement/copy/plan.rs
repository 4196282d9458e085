//! Plans copies from global to shared memory: the candidates and the choice.

use super::asynchronous::asynchronous;
use super::bulk_tensor;
use super::problem::AsyncCopySpec;
use super::row::CopyInstruction;
use super::shared_copy::{AsyncCopyPlan, CopyPath};
use crate::cost::{GlobalWork, WarpWork, memory_latency};
use crate::movement::memory::{GlobalTensor, find_coalesced_layout, plan_global_access, plan_shared_access};
use crate::movement::{MovementError, PlanContext, RejectedCandidate, WarpAddressedSharedCopy, predict_cycles};
use tilewright_target::{Direction, Instruction};

/// Plans a copy from global to shared memory: by asynchronous copy instructions or by plain loads and stores.
///
/// # Errors
/// [`MovementError`] if the element width is unknown, if the tensors in global and shared memory differ, if a size is
/// not a power of two, or if the target has no plain accesses as wide as an element.
///
/// # Examples
/// ```
/// use tilewright_layout::{Dim, LinearLayout, MemoryLayout};
/// use tilewright_plan::movement::{AsyncCopySpec, GlobalTensor, plan_async_copy};
/// # let text = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../testkit/src/test_targets/small.toml"));
/// # let target = tilewright_target::TargetDescription::from_toml("small.toml", text)?;
/// // The context has no instruction table, so the copy takes plain loads and stores.
/// let memory = MemoryLayout::from_linear(LinearLayout::identity(64, Dim::OFFSET, Dim::tensor(0))?);
/// let global = GlobalTensor::row_major(&[64], 16);
/// let copy = plan_async_copy(&AsyncCopySpec::new(&global, &memory, 32, 8, 1), &target)?;
/// assert_eq!((copy.instruction(), copy.bytes_per_access()), (None, 16));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn plan_async_copy<'a>(
    problem: &AsyncCopySpec<'_>,
    context: impl Into<PlanContext<'a>>,
) -> Result<AsyncCopyPlan, MovementError> {
    let context = context.into();
    let mut best = plain(problem, &context)?;
    let mut rejected = Vec::new();
    let mut close =
        |name: &str, reason: String| rejected.push(RejectedCandidate { candidate: name.to_owned(), reason });
    for row in context.instructions.iter().filter_map(CopyInstruction::from_instruction) {
        match asynchronous(problem, &row, &context) {
            Ok(copy) if copy.rank().lt(&best.rank()) => best = copy,
            Ok(copy) => {
                let (transactions, cycles) = (copy.transactions, copy.cost);
                let reason =
                    format!("it takes {transactions} global-memory transactions and {cycles:.0} cycles of a block");
                close(row.name, reason);
            }
            Err(reason) => close(row.name, reason),
        }
    }
    let (tensor_copy, others) = bulk_tensor::by_tensor_copies(problem, Direction::Store, &context);
    others.into_iter().for_each(|one| close(&one.candidate, one.reason));
    if let (Some(copy), CopyPath::Plain(both)) = (tensor_copy, plain(problem, &context)?.path) {
        let cost = predict_cycles(&copy.counts, problem.warps.into(), 1, context.target);
        let (layout, (load, store)) = (best.layout.clone(), *both);
        let (counts, transactions) = (copy.counts, copy.transactions);
        let path = CopyPath::TensorCopy(Box::new((copy, load, store)));
        let copy = AsyncCopyPlan { counts, cost, transactions, layout, rejected: Vec::new(), path };
        if copy.rank().lt(&best.rank()) {
            best = copy;
        } else if let Some(name) = copy.instruction() {
            let reason = format!("it takes {transactions} global-memory transactions");
            close(name, reason);
        }
    }
    Ok(AsyncCopyPlan { rejected, ..best })
}

/// Returns the copy by the widest instruction of the table that takes one shared-memory address for all lanes and so
/// writes consecutively; `None` if there is no such instruction.
#[must_use]
pub fn find_warp_addressed_copy(
    instructions: &[Instruction],
    global: &GlobalTensor,
) -> Option<WarpAddressedSharedCopy> {
    let rows =
        instructions.iter().filter_map(CopyInstruction::from_instruction).filter(CopyInstruction::is_consecutive);
    let widest = rows.map(|row| 8 * row.bytes).max()?;
    Some(WarpAddressedSharedCopy { global: global.clone(), access_bits: widest })
}

/// Plans the copy by loads to registers and stores from the registers to shared memory.
fn plain(problem: &AsyncCopySpec<'_>, context: &PlanContext<'_>) -> Result<AsyncCopyPlan, MovementError> {
    let AsyncCopySpec { global, memory, element_bits, lanes, warps, .. } = *problem;
    let layout = find_coalesced_layout(global, element_bits, lanes.into(), warps.into(), context.target)?;
    let load = plan_global_access(&layout, global, element_bits, Direction::Load, context.target)?;
    let store = plan_shared_access(&layout, memory, element_bits, Direction::Store, context.with_instructions(&[]))?;
    // Stores wait for the loads, which delays the warp; with asynchronous copies the warp does other work until it
    // needs the data.
    let loaded = WarpWork { global: GlobalWork::from_access(&load, Direction::Load, warps), ..WarpWork::default() };
    let loaded =
        loaded.predict_time(warps.into(), context.target).issue * f64::from(warps) + memory_latency(context.target);
    Ok(AsyncCopyPlan {
        counts: store.stats.counts,
        cost: store.stats.cost + loaded,
        transactions: load.transactions,
        layout,
        rejected: Vec::new(),
        path: CopyPath::Plain(Box::new((load, store))),
    })
}
