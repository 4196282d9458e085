//! Checks of instructions that prefetch a block of a matrix. Each prefetch is for a tile of one block; the matrix has
//! three tiles, one below the other.

use tilewright_kernel::Module;
use tilewright_plan::movement::{PlanContext, PrefetchPlan, PrefetchSpec, plan_prefetch};
use tilewright_target::Instruction;
use tilewright_verify::kernels::{PrefetchDistance, build_prefetch_kernel};
use tilewright_verify::{CheckFailure, build_prefetch_case, check_emulated};

use super::super::artifact;
use crate::{Context, EvidenceLevel, Verdict};

/// Checks on the emulator that the instruction prefetches every sector of the matrix, and nothing else.
pub(super) fn emulated(context: &Context, row: &Instruction) -> Result<(), CheckFailure> {
    let lanes = context.target().description().lanes.default;
    let plan_context = plan_context(context, row);
    check_emulated(
        &build_prefetch_case(&planned(context, row)?, lanes, PrefetchDistance::in_tiles(1), plan_context)?,
        plan_context,
    )
    .map(drop)
}

/// Compiles a kernel that issues the instruction, and checks the code.
pub(super) fn compiled(context: &Context, row: &Instruction) -> Verdict {
    let lanes = context.target().description().lanes.default;
    let kernel = planned(context, row).and_then(|plan| {
        Ok(build_prefetch_kernel(&plan, lanes, PrefetchDistance::in_tiles(1), plan_context(context, row))?)
    });
    match kernel {
        Ok(kernel) => artifact::check_compilation(context, &Module { kernels: vec![kernel] }),
        Err(wrong) => Verdict::fail(EvidenceLevel::Layout, wrong.to_string()),
    }
}

fn plan_context<'a>(context: &'a Context, row: &'a Instruction) -> PlanContext<'a> {
    PlanContext::new(context.target().description()).with_instructions(std::slice::from_ref(row))
}

/// Plans the prefetch of three tiles, each as wide as a row of the matrix must be.
fn planned(context: &Context, row: &Instruction) -> Result<PrefetchPlan, CheckFailure> {
    let block = row.block_operand().ok_or_else(|| CheckFailure::Row("it names no block of a matrix".to_owned()))?;
    let min_elements = u64::from(block.least_bytes) * 8 / u64::from(block.element_bits);
    let [rows, columns] = [u64::from(block.rows), u64::from(block.columns).max(min_elements)];
    let problem = PrefetchSpec::new([rows, columns], [3 * rows, columns], block.element_bits)
        .with_pitch(2 * columns)
        .with_alignment(block.alignment.into());
    Ok(plan_prefetch(&problem, plan_context(context, row))?)
}
