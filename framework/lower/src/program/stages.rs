//! Lowers predicated pipeline stages: `ttg.mask` and `ttg.predicate_stage`, which Triton's pipeline expander leaves in
//! loops.

use tilewright_kernel::{Binary, Compare};
use tilewright_tile::Op;

use super::control;
use super::error::{LowerError, LowerErrorReason, Lowered};
use super::lowering::Lowering;
use super::scalar::scalar_constant;

/// Lowers `ttg.mask`: executes its region if the condition holds; otherwise its results are zeros, which are not used.
pub(super) fn masked(lowering: &mut Lowering<'_>, op: Op) -> Result<(), LowerError> {
    let body = lowering.body;
    let at = |reason: LowerErrorReason| reason.at(body, op);
    let operation = body.op(op);
    let condition = lowering.operand(op, 0).and_then(|value| lowering.scalar(value)).map_err(at)?;
    let types = lowering.flat_types(&operation.results).map_err(at)?;
    let then = control::lower_branch(lowering, op, operation.regions.first().copied())?;
    lowering.builder.begin_region(&[]);
    let zeros: Vec<_> = types.iter().map(|&ty| scalar_constant(&mut lowering.builder, ty, 0)).collect();
    let otherwise = lowering.builder.end_region(&zeros);
    let values = lowering.builder.if_else(condition, then, otherwise, &types);
    lowering.set_flattened(&mut values.into_iter(), &operation.results, &[], None, true).map_err(at)
}

/// Lowers `ttg.predicate_stage`: its result is whether the given pipeline stage executes in this iteration of the loop.
///
/// Source: Triton's pipeline expander, which compares the counter with the upper bound less a step for each later
/// stage.
pub(super) fn predicate(lowering: &mut Lowering<'_>, op: Op) -> Lowered<()> {
    let [counter, end, step] = [0, 1, 2].map(|operand| lowering.operand(op, operand));
    let [counter, end, step] = [lowering.scalar(counter?)?, lowering.scalar(end?)?, lowering.scalar(step?)?];
    let stages = lowering.integer_attribute(op, "maxStage")? - lowering.integer_attribute(op, "stage")?;
    let builder = &mut lowering.builder;
    let ty = builder.type_of(counter);
    let mask = u64::MAX >> (64 - ty.bits().clamp(1, 64));
    let stages = builder.constant(ty, stages as u64 & mask);
    let before = builder.binary(Binary::Mul, step, stages);
    let end_of_stage = builder.binary(Binary::Sub, end, before);
    let holds = builder.compare(Compare::LtS, counter, end_of_stage);
    lowering.propagate_uniform(&[counter, end, step], &[holds]);
    let result = lowering.result(op, 0)?;
    lowering.set_lowered(result, super::lowered::LoweredValue::Scalar(holds));
    Ok(())
}
