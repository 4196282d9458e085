//! Lowers an `scf.if` whose first branch only loads under masks, and whose other branch yields the value of masked
//! elements or unspecified values. The software pipeliner writes such operations for loads that the last iterations omit. The condition
//! becomes a part of the masks, so that there is no branch, and vectors of loaded elements are not taken apart to be
//! merged with the other branch.

use tilewright_kernel::Value;
use tilewright_target::Optimization;
use tilewright_tile::op::name::{arith, tt, ub};
use tilewright_tile::{self as tile, Attribute, FunctionBody, Op, ValueOrigin};

use super::super::error::LowerError;
use super::super::lowering::Lowering;
use super::yielded::yielded;

/// Lowers the operation's first branch with `condition` as a part of all masks, and returns the values that the
/// operation yields; `None` if the branches do not have the form that this module lowers.
pub(super) fn guarded_loads(
    lowering: &mut Lowering<'_>,
    op: Op,
    condition: Value,
) -> Result<Option<Vec<Value>>, LowerError> {
    let is_enabled = lowering.config.context.enables(Optimization::GuardedLoads);
    let Some(block) = block_of_loads(lowering, op).filter(|_| is_enabled) else { return Ok(None) };
    lowering.guard = Some(condition);
    let values = yielded(lowering, op, block);
    lowering.guard = None;
    values.map(Some)
}

/// Returns the block of the first branch if it only loads under masks, and the other branch yields the value of masked
/// elements or unspecified values. `None` for other branches.
fn block_of_loads(lowering: &Lowering<'_>, op: Op) -> Option<tile::Block> {
    let body = lowering.body;
    let &[then, otherwise] = body.op(op).regions.as_slice() else { return None };
    let block = lowering.only_block(then).ok()?;
    let (end, loads) = body.ops(block).split_last()?;
    let (other_end, constants) = body.ops(lowering.only_block(otherwise).ok()?).split_last()?;
    let is_masked = |&load: &Op| body.op(load).name() == tt::LOAD && lowering.optional(load, "mask").is_some();
    let is_constant = |&other: &Op| [arith::CONSTANT, ub::POISON].contains(&body.op(other).name());
    if loads.is_empty() || !loads.iter().all(is_masked) || !constants.iter().all(is_constant) {
        return None;
    }
    let yielded = body.op(*end).operands.iter().zip(&body.op(*other_end).operands);
    let mut is_same = yielded.map(|(&value, &other)| {
        let ValueOrigin::Result(load, _) = body.value_origin(value) else { return false };
        let masked = lowering.optional(load, "other").map_or(Some(0), |other| splat_bits(body, other));
        let is_masked_value = || masked.is_some() && masked == splat_bits(body, other);
        loads.contains(&load) && (is_unspecified(body, other) || is_masked_value())
    });
    is_same.all(|is_same| is_same).then_some(block)
}

fn is_unspecified(body: &FunctionBody, value: tile::Value) -> bool {
    matches!(body.value_origin(value), ValueOrigin::Result(op, _) if body.op(op).name() == ub::POISON)
}

/// Returns the bits of one element of a constant whose elements are all equal; `None` for other values.
fn splat_bits(body: &FunctionBody, value: tile::Value) -> Option<u64> {
    let ValueOrigin::Result(op, _) = body.value_origin(value) else { return None };
    if body.op(op).name() != arith::CONSTANT {
        return None;
    }
    match body.op(op).attributes.get("value")? {
        Attribute::Number(number) => Some(number.bits),
        Attribute::Bool(value) => Some(u64::from(*value)),
        Attribute::Dense(dense) => match dense.elements[..] {
            [bits] => Some(bits),
            _ => None,
        },
        _ => None,
    }
}
