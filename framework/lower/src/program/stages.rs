//! What a pipeliner leaves of stages that not every turn of a loop has: operations that are done where a condition holds, and the
//! condition that a stage has.

use tilewright_kernel::{Binary, Compare};
use tilewright_tile::Op;

use super::control;
use super::error::{LowerError, Lowered, Reason};
use super::lowering::Lowering;
use super::scalar::number;

/// `ttg.mask`: its region where the condition holds; else zeros, for results that say nothing then.
pub(super) fn masked(lowering: &mut Lowering<'_>, op: Op) -> Result<(), LowerError> {
    let body = lowering.body;
    let at = |reason: Reason| reason.at(body, op);
    let operation = body.op(op);
    let condition = lowering.operand(op, 0).and_then(|value| lowering.scalar(value)).map_err(at)?;
    let types = lowering.flat_types(&operation.results).map_err(at)?;
    let then = control::arm(lowering, op, operation.regions.first().copied())?;
    lowering.builder.begin_region(&[]);
    let zeros: Vec<_> = types.iter().map(|&ty| number(&mut lowering.builder, ty, 0)).collect();
    let otherwise = lowering.builder.end_region(&zeros);
    let values = lowering.builder.if_else(condition, then, otherwise, &types);
    lowering.hold_flat(&mut values.into_iter(), &operation.results, &[], true).map_err(at)
}

/// `ttg.predicate_stage`: whether a loop has a turn in which the stage of so many after this one is done.
///
/// Source: Triton's pipeline expander, which compares the counter with the upper bound less a step for each stage to come.
pub(super) fn predicate(lowering: &mut Lowering<'_>, op: Op) -> Lowered<()> {
    let [counter, end, step] = [0, 1, 2].map(|operand| lowering.operand(op, operand));
    let [counter, end, step] = [lowering.scalar(counter?)?, lowering.scalar(end?)?, lowering.scalar(step?)?];
    let stages = lowering.number(op, "maxStage")? - lowering.number(op, "stage")?;
    let builder = &mut lowering.builder;
    let ty = builder.type_of(counter);
    let mask = u64::MAX >> (64 - ty.bits().clamp(1, 64));
    let stages = builder.constant(ty, stages as u64 & mask);
    let before = builder.binary(Binary::Mul, step, stages);
    let end_of_stage = builder.binary(Binary::Sub, end, before);
    let holds = builder.compare(Compare::LtS, counter, end_of_stage);
    lowering.computed(&[counter, end, step], &[holds]);
    let result = lowering.result(op, 0)?;
    lowering.hold(result, super::lowered::LoweredValue::Scalar(holds));
    Ok(())
}
