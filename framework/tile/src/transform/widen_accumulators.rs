//! Widens the accumulators of dots in `f16` if the target's MMA instructions accumulate in `f32` alone.
//!
//! Without such an instruction, a dot multiplies by fused multiply-adds of single lanes. As in Triton 3.9.0, the
//! accumulator is `f32` within one dot, and is rounded to `f16` after it.

use super::{IrCloner, Rewrite, Rewritten, rewrite_functions_with};
use crate::op::Dialects;
use crate::op::name::{arith, tt, tw};
use crate::{FloatType, FunctionBody, Op, TileModule, TileType, TileViolation, Value};

/// Whether the target has an MMA instruction whose operands and accumulator have these element types.
pub type HasMma<'a> = dyn Fn(FloatType, FloatType) -> bool + 'a;

/// Replaces each `tt.dot` and `tw.mma` with an accumulator of `f16` by one that accumulates in `f32`, if the target has an MMA
/// instruction for that one alone.
///
/// # Errors
/// A [`TileViolation`] if the dialects have no casts.
pub fn widen_accumulators(
    module: &TileModule,
    dialects: &Dialects,
    has_mma: &HasMma<'_>,
) -> Result<TileModule, TileViolation> {
    let is_meant = |body: &FunctionBody, op| find_narrow_accumulator(body, op, has_mma).is_some();
    rewrite_functions_with(module, dialects, is_meant, &mut Widen { has_mma })
}

/// Returns the accumulator of a dot that is to be widened; `None` for other operations.
fn find_narrow_accumulator(body: &FunctionBody, op: Op, has_mma: &HasMma<'_>) -> Option<Value> {
    let element = |value: Value| match body.value_type(value).element() {
        TileType::Float(float) => Some(*float),
        _ => None,
    };
    let (a, c) = (body.operand(op, "a")?, body.operand(op, "c")?);
    let operand = element(a)?;
    let is_narrow = matches!(body.op(op).name(), tt::DOT | tw::MMA) && element(c) == Some(FloatType::F16);
    (is_narrow && !has_mma(operand, FloatType::F16) && has_mma(operand, FloatType::F32)).then_some(c)
}

struct Widen<'a> {
    has_mma: &'a HasMma<'a>,
}

impl Rewrite for Widen<'_> {
    fn rewrite(&mut self, op: Op, cloner: &mut IrCloner<'_, '_, '_>) -> Rewritten<bool> {
        let Some(accumulator) = find_narrow_accumulator(cloner.from, op, self.has_mma) else { return Ok(false) };
        let Some(&result) = cloner.from.op(op).results.first() else { return Ok(false) };
        let narrow = cloner.from.value_type(result).clone();
        let wide = narrow.with_element(TileType::Float(FloatType::F32));
        let given = cloner.clone_of(accumulator);
        let widened = cloner.to.unary(arith::EXTF, given, wide.clone())?;
        // The accumulator is the last operand, and may be one of the others too.
        let mut operands = cloner.all(&cloner.from.op(op).operands);
        if let Some(last) = operands.last_mut() {
            *last = widened;
        }
        cloner.clone_op_with(op, operands, Vec::new());
        let sum = cloner.clone_of(result);
        cloner.to.body_mut().set_type(sum, wide);
        let rounded = cloner.to.unary(arith::TRUNCF, sum, narrow)?;
        cloner.bind(result, rounded);
        Ok(true)
    }
}
