//! Chained dots: finds dots whose accumulator reaches an operand of another dot through elementwise operations.

use std::collections::HashSet;
use tilewright_tile::op::name::{arith, ttg, tw};
use tilewright_tile::op_attrs::OPERAND_STAYS_IN_SMEM;
use tilewright_tile::{FunctionBody, Op, Value, ValueOrigin};

/// Operations, besides elementwise ones, whose result keeps each element at its coordinates, so that a chain of dots
/// continues through them.
const KEEPING: [&str; 3] = [arith::SELECT, ttg::CONVERT_LAYOUT, tw::MMA_WAIT];

/// Whether the results of an operation have the elements of its operands at the same coordinates, so that a chain
/// continues through it.
pub(super) fn keeps(body: &FunctionBody, op: Op) -> bool {
    let operation = body.op(op);
    operation.definition.traits.elementwise || KEEPING.contains(&operation.name())
}

/// Returns the values from which a chain continues to the results of an operation: its operands if it keeps each element
/// at its coordinates, or the value that was stored to the shared memory from which an MMA reads its operand.
fn sources(body: &FunctionBody, op: Op) -> &[Value] {
    let operation = body.op(op);
    if keeps(body, op) {
        return &operation.operands;
    }
    if operation.name() != ttg::LOCAL_LOAD || operation.attributes.get(OPERAND_STAYS_IN_SMEM).is_none() {
        return &[];
    }
    let buffer = operation.operands.first().map(|&buffer| body.value_origin(buffer));
    let Some(ValueOrigin::Result(buffer, _)) = buffer else { return &[] };
    if body.op(buffer).name() == ttg::LOCAL_ALLOC { &body.op(buffer).operands } else { &[] }
}

/// Whether the result of a dot becomes operand A or B of another dot, directly or through operations that keep each
/// element at its coordinates.
pub(super) fn is_operand(body: &FunctionBody, op: Op) -> bool {
    let mut flows: HashSet<Value> = body.op(op).results.iter().copied().collect();
    for user in body.walk_region(body.root()) {
        let operation = body.op(user);
        if user != op && operation.is_dot() {
            let operands = ["a", "b"].into_iter().flat_map(|group| body.operand(user, group));
            if operands.into_iter().any(|operand| flows.contains(&operand)) {
                return true;
            }
        }
        if sources(body, user).iter().any(|source| flows.contains(source)) {
            flows.extend(operation.results.iter().copied());
        }
    }
    false
}

/// Returns, for operands `a` and `b` of a dot, the dot that produces the operand; the first one found if there are
/// several, `None` if there is none.
pub(super) fn producing_dots(body: &FunctionBody, op: Op) -> [Option<Op>; 2] {
    ["a", "b"].map(|group| body.operand(op, group).and_then(|operand| producing_dot(body, operand)))
}

fn producing_dot(body: &FunctionBody, operand: Value) -> Option<Op> {
    let (mut open, mut seen) = (vec![operand], HashSet::new());
    while let Some(value) = open.pop() {
        let ValueOrigin::Result(op, _) = body.value_origin(value) else { continue };
        if !seen.insert(op) {
            continue;
        }
        if body.op(op).is_dot() {
            return Some(op);
        }
        open.extend(sources(body, op).iter().rev());
    }
    None
}

/// Returns the number of dots in the longest chain that leads to the operands of a dot, at most [`ENOUGH`].
pub(super) fn length(body: &FunctionBody, op: Op) -> u32 {
    fn within(body: &FunctionBody, op: Op, most: u32) -> u32 {
        if most == 0 {
            return 0;
        }
        let before = producing_dots(body, op).into_iter().flatten();
        before.map(|maker| 1 + within(body, maker, most - 1)).max().unwrap_or(0)
    }
    within(body, op, ENOUGH)
}

/// The cap on the length of a chain of dots; longer chains count as this long.
const ENOUGH: u32 = 4;

/// Returns a text with everything that the plan of a dot depends on, except the target: dots with equal texts share one
/// plan.
pub(super) fn plan_key(body: &FunctionBody, op: Op) -> String {
    let operation = body.op(op);
    let types: Vec<_> = operation.operands.iter().map(|value| body.value_type(*value).to_string()).collect();
    let operation_key = format!("{} {} {types:?} {:?}", operation.name(), is_operand(body, op), operation.attributes);
    let length = length(body, op);
    let before = producing_dots(body, op).map(|maker| match maker {
        Some(maker) if length < ENOUGH => plan_key(body, maker),
        Some(_) => "a product".to_owned(),
        None => "no product".to_owned(),
    });
    format!("{length} {operation_key} of ({}) ({})", before[0], before[1])
}
