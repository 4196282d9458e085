//! The first uses of values that a loop carries in registers: arithmetic that an iteration executes before it
//! prefetches the next ones.
//!
//! While a value of this iteration is live, the load for the next iteration needs registers of its own, and the end of
//! the iteration moves each of them to where the next iteration reads it. If the uses of the values come first, the
//! load fills the registers that they leave.

use std::collections::BTreeSet;

use crate::op::name::{arith, tt};
use crate::{Block, FunctionBody, Op, Value, ValueOrigin};

/// Returns the operations `ops` of an iteration that come before its prefetches to registers, in the order of the text:
/// the operations that define the values `carried`, which the loop carries in registers, and the arithmetic on them
/// that needs no other value of the loop body `block`. `excluded` are the operations on which prefetches depend.
///
/// A value is used up early only if this arithmetic has all of its uses, and if its first use precedes the dots: an
/// iteration would otherwise wait for it earlier. None are returned if the results would need more bits than the
/// values.
pub(super) fn find_early_uses(
    body: &FunctionBody,
    (block, ops): (Block, &[Op]),
    carried: &BTreeSet<Value>,
    excluded: &BTreeSet<Op>,
) -> Vec<Op> {
    let is_local = |value: &Value| match body.value_origin(*value) {
        ValueOrigin::Argument(of, _) => of == block,
        ValueOrigin::Result(op, _) => body.ops(block).contains(&op),
    };
    let first_dot = ops.iter().position(|op| body.op(*op).is_dot()).unwrap_or(ops.len());
    let comes_first = |value: &Value| {
        let first = ops.iter().position(|op| body.op(*op).operands.contains(value));
        first.is_some_and(|first| first < first_dot)
    };
    let is_address = |value: &Value| {
        let origin = body.value_origin(*value);
        matches!(origin, ValueOrigin::Result(op, _) if excluded.contains(&op))
    };
    let is_open = |value: &Value| comes_first(value) && !is_address(value);
    let mut used_up: BTreeSet<Value> = carried.iter().copied().filter(is_open).collect();
    loop {
        let (early, results) = find_dependents(body, ops, &used_up, excluded, is_local);
        let is_other = |op: &&Op| !early.contains(op);
        let live: BTreeSet<Value> =
            body.ops(block).iter().filter(is_other).flat_map(|op| operands(body, *op)).collect();
        let kept: BTreeSet<Value> = used_up.difference(&live).copied().collect();
        if kept.len() < used_up.len() {
            used_up = kept;
            continue;
        }
        let bits =
            |values: &mut dyn Iterator<Item = &Value>| values.map(|value| tensor_bits(body, *value)).sum::<u64>();
        let is_smaller = bits(&mut results.intersection(&live)) <= bits(&mut used_up.iter());
        return if is_smaller && !used_up.is_empty() { early } else { Vec::new() };
    }
}

/// Returns the operations that define `values` or are arithmetic on them, and the results of the arithmetic.
fn find_dependents(
    body: &FunctionBody,
    ops: &[Op],
    values: &BTreeSet<Value>,
    excluded: &BTreeSet<Op>,
    is_local: impl Fn(&Value) -> bool,
) -> (Vec<Op>, BTreeSet<Value>) {
    let (mut found, mut results) = (Vec::new(), BTreeSet::new());
    for &op in ops.iter().filter(|op| !excluded.contains(op)) {
        let (operation, traits) = (body.op(op), &body.op(op).definition.traits);
        if operation.results.iter().any(|value| values.contains(value)) {
            found.push(op);
            continue;
        }
        let is_known = |value: &Value| values.contains(value) || results.contains(value);
        let is_arithmetic = traits.pure && traits.elementwise && operation.regions.is_empty();
        let is_arithmetic = is_arithmetic && !is_added_product(body, ops, op);
        let (mut local, mut others) = (0, false);
        for value in &operation.operands {
            local += usize::from(is_known(value));
            others |= !is_known(value) && is_local(value);
        }
        if is_arithmetic && local > 0 && !others {
            found.push(op);
            results.extend(operation.results.iter().copied());
        }
    }
    (found, results)
}

/// Whether an operation is a product that is added to others. Code generators contract both to multiply-adds, which
/// read the factors where the sum is.
fn is_added_product(body: &FunctionBody, ops: &[Op], op: Op) -> bool {
    let operation = body.op(op);
    let adds = |user: &&Op| matches!(body.op(**user).name(), arith::ADDF | arith::SUBF | tt::REDUCE);
    let uses = |user: &Op| body.op(*user).operands.iter().any(|value| operation.results.contains(value));
    operation.name() == arith::MULF && ops.iter().filter(adds).any(uses)
}

/// Returns the operands of an operation and of the operations in its regions.
fn operands(body: &FunctionBody, op: Op) -> Vec<Value> {
    body.op_and_nested_ops(op).into_iter().flat_map(|op| body.op(op).operands.iter().copied()).collect()
}

/// Number of bits of a tensor.
fn tensor_bits(body: &FunctionBody, value: Value) -> u64 {
    let ty = body.value_type(value);
    let elements: u64 = ty.shape().unwrap_or_default().iter().product();
    elements * u64::from(ty.element().element_bits().unwrap_or(8))
}
