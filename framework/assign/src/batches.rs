//! Batched dots: the warp partition of their matrices, and the layouts of all matrices from the layout of one.

use super::LaunchConfig;
use super::layouts::{LayoutTransfer, to_canonical_dim_order};
use tilewright_layout::{Dim, LayoutError, LinearLayout};
use tilewright_plan::mma::{MmaError, MmaPlan, MmaProblem, plan_mma};

/// A batch of matrices, numbered by the first axis of a dot's tensors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MatrixBatch {
    /// Number of matrices of the batch.
    pub count: u64,
    /// Log2 of the number of groups into which the warps are divided; different groups multiply different matrices.
    pub groups: u32,
}

impl MatrixBatch {
    /// Number of matrices that one warp multiplies; the highest bits of a register's index number them.
    #[must_use]
    pub fn matrices_per_warp(self) -> u64 {
        self.count >> self.groups
    }
}

/// Plans the MMA of one matrix by all warps. For a batch of `count` matrices (`None` without a batch axis), divides the
/// warps into groups that multiply different matrices, if the operands of a group's plan are in registers. Returns the
/// plan of one group in the division that takes the fewest cycles; among equals, the one of most groups.
pub(super) fn warp_partition(
    problem: &MmaProblem,
    count: Option<u64>,
    config: &LaunchConfig<'_>,
) -> Result<(MmaPlan, Option<MatrixBatch>), MmaError> {
    let full = match plan_mma(problem, config.context) {
        Err(MmaError::Impossible { .. }) if problem.chained => {
            plan_mma(&problem.clone().with_chained(false), config.context)?
        }
        other => other?,
    };
    let Some(count) = count else { return Ok((full, None)) };
    let in_registers =
        |plan: &MmaPlan| [&plan.a, &plan.b].iter().all(|operand_layout| !operand_layout.ins().contains(Dim::OFFSET));
    let cycles = |plan: &MmaPlan, groups: u32| batch_cycles(plan, MatrixBatch { count, groups }, config);
    let most = count.trailing_zeros().min(problem.warps.trailing_zeros());
    let mut best = (full, 0);
    for groups in 1..=most {
        let fewer = problem.clone().with_warps(problem.warps >> groups).with_chained(best.0.problem.chained);
        match plan_mma(&fewer, config.context) {
            Ok(own) if in_registers(&own) && cycles(&own, groups) <= cycles(&best.0, best.1) => best = (own, groups),
            Ok(_) | Err(MmaError::Impossible { .. }) => {}
            Err(other) => return Err(other),
        }
    }
    let (plan, groups) = best;
    Ok((plan, Some(MatrixBatch { count, groups })))
}

/// Returns the cycles of the compute unit for a batch, by the plan of one group. The groups share the matrix pipes: the
/// warps of each pipe issue one after the other. All other cycles of a plan are of resources that all warps share.
fn batch_cycles(plan: &MmaPlan, batch: MatrixBatch, config: &LaunchConfig<'_>) -> f64 {
    let pipes = config.context.target.matrix.as_ref().map_or(1, |matrix| matrix.pipes.max(1));
    let warps = plan.problem.warps;
    let slower = f64::from((warps << batch.groups).div_ceil(pipes)) / f64::from(warps.div_ceil(pipes));
    let issuing = plan.cost.issue_cycles * slower * batch.matrices_per_warp() as f64;
    issuing + (plan.cost.cycles() - plan.cost.issue_cycles) * batch.count as f64
}

/// Extends a layout to `size` elements along an axis; the added elements are in additional highest registers.
pub(super) fn extend_axis(layout: &LinearLayout, axis: usize, size: u64) -> Result<LinearLayout, LayoutError> {
    let mut full = to_canonical_dim_order(layout)?;
    while 1u64 << full.out_bits(Dim::tensor(axis)) < size {
        full = LayoutTransfer::Stacked(axis).apply(&full)?;
    }
    Ok(full)
}

/// Extends the layout of one matrix to a batch: groups of warps hold different matrices; further matrices are in
/// additional highest registers.
pub fn extend_over_batches(layout: &LinearLayout, batches: Option<MatrixBatch>) -> Result<LinearLayout, LayoutError> {
    let Some(MatrixBatch { count, groups }) = batches else { return Ok(layout.clone()) };
    let mut all = LayoutTransfer::InsertAxis(0).apply(&to_canonical_dim_order(layout)?)?;
    for _ in 0..groups {
        all = LayoutTransfer::DoubledOverWarps(0).apply(&all)?;
    }
    while 1u64 << all.out_bits(Dim::tensor(0)) < count {
        all = LayoutTransfer::Stacked(0).apply(&all)?;
    }
    Ok(all)
}
