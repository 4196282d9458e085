//! Rows that prefetch blocks of a matrix: tiles of one block each, of a matrix that ends within the last one.

use tilewright_kernel::Module;
use tilewright_plan::movement::{PlanContext, Prefetch, PrefetchSpec, prefetch};
use tilewright_target::{Instruction, Operand};
use tilewright_verify::kernels::{Ahead, prefetched_kernel};
use tilewright_verify::{CheckFailure, check_emulated, prefetch_case};

use super::super::artifact;
use crate::{Context, Level, Verdict};

/// Every unit of the matrix is prefetched, and nothing else.
pub(super) fn emulated(context: &Context, row: &Instruction) -> Result<(), CheckFailure> {
    let lanes = context.target().description().lanes.default;
    let plan_context = plan_context(context, row);
    check_emulated(&prefetch_case(&planned(context, row)?, lanes, Ahead::by(1), plan_context)?, plan_context).map(drop)
}

/// Compiles the kernel.
pub(super) fn compiled(context: &Context, row: &Instruction) -> Verdict {
    let lanes = context.target().description().lanes.default;
    let kernel = planned(context, row)
        .and_then(|plan| Ok(prefetched_kernel(&plan, lanes, Ahead::by(1), plan_context(context, row))?));
    match kernel {
        Ok(kernel) => artifact::compiled(context, &Module { kernels: vec![kernel] }),
        Err(wrong) => Verdict::fail(Level::Layout, wrong.to_string()),
    }
}

fn plan_context<'a>(context: &'a Context, row: &'a Instruction) -> PlanContext<'a> {
    PlanContext::of(context.target().description()).with_instructions(std::slice::from_ref(row))
}

/// Three tiles of as many blocks as a row of the matrix must have.
fn planned(context: &Context, row: &Instruction) -> Result<Prefetch, CheckFailure> {
    let block = row.operands.iter().find_map(|operand| match operand {
        Operand::Block(block) => Some(block),
        _ => None,
    });
    let block = block.ok_or_else(|| CheckFailure::Row("it names no block of a matrix".to_owned()))?;
    let least = u64::from(block.least_bytes) * 8 / u64::from(block.element_bits);
    let [rows, columns] = [u64::from(block.rows), u64::from(block.columns).max(least)];
    let problem = PrefetchSpec {
        tile: [rows, columns],
        matrix: [3 * rows, columns],
        pitch: 2 * columns,
        element_bits: block.element_bits,
        alignment: block.alignment.into(),
        warps: 1,
    };
    Ok(prefetch(&problem, plan_context(context, row))?)
}
