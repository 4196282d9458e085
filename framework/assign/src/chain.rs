//! Chains of products: which sums become, each element by itself, a factor of another product.

use std::collections::HashSet;
use tilewright_tile::op::name::{arith, ttg, tw};

use tilewright_tile::{Body, Op, Value, ValueOrigin};

/// Operations beside elementwise ones that leave each element where it is.
const KEEPING: [&str; 3] = [arith::SELECT, ttg::CONVERT_LAYOUT, tw::AWAIT_PRODUCTS];

fn keeps(body: &Body, op: Op) -> bool {
    let operation = body.op(op);
    operation.definition.traits.elementwise || KEEPING.contains(&operation.name())
}

/// Whether the sums of a product become a factor of another one.
pub(super) fn is_operand(body: &Body, op: Op) -> bool {
    let mut flows: HashSet<Value> = body.op(op).results.iter().copied().collect();
    for user in body.walk(body.root()) {
        let operation = body.op(user);
        if !operation.operands.iter().any(|operand| flows.contains(operand)) {
            continue;
        }
        if user != op && operation.is_dot() {
            let factors = ["a", "b"].into_iter().flat_map(|group| body.operand(user, group));
            if factors.into_iter().any(|factor| flows.contains(&factor)) {
                return true;
            }
        }
        if keeps(body, user) {
            flows.extend(operation.results.iter().copied());
        }
    }
    false
}

/// The products whose sums become factors `a` and `b` of a product; of several that make one factor the one that is found first.
pub(super) fn makers(body: &Body, op: Op) -> [Option<Op>; 2] {
    ["a", "b"].map(|group| body.operand(op, group).and_then(|factor| maker(body, factor)))
}

fn maker(body: &Body, factor: Value) -> Option<Op> {
    let (mut open, mut seen) = (vec![factor], HashSet::new());
    while let Some(value) = open.pop() {
        let ValueOrigin::Result(op, _) = body.origin(value) else { continue };
        if !seen.insert(op) {
            continue;
        }
        if body.op(op).is_dot() {
            return Some(op);
        }
        if keeps(body, op) {
            open.extend(body.op(op).operands.iter().rev());
        }
    }
    None
}

/// How many products are before a product, one before the other; of many not all.
pub(super) fn length(body: &Body, op: Op) -> u32 {
    fn within(body: &Body, op: Op, most: u32) -> u32 {
        if most == 0 {
            return 0;
        }
        let before = makers(body, op).into_iter().flatten();
        before.map(|maker| 1 + within(body, maker, most - 1)).max().unwrap_or(0)
    }
    within(body, op, ENOUGH)
}

/// Longer chains are not told apart.
const ENOUGH: u32 = 4;

/// What the plan of a product depends on beside its target, as text: equal products say the same.
pub(super) fn described(body: &Body, op: Op) -> String {
    let operation = body.op(op);
    let types: Vec<_> = operation.operands.iter().map(|value| body.ty(*value).to_string()).collect();
    let own = format!("{} {} {types:?} {:?}", operation.name(), is_operand(body, op), operation.attributes);
    let length = length(body, op);
    let before = makers(body, op).map(|maker| match maker {
        Some(maker) if length < ENOUGH => described(body, maker),
        Some(_) => "a product".to_owned(),
        None => "no product".to_owned(),
    });
    format!("{length} {own} of ({}) ({})", before[0], before[1])
}
