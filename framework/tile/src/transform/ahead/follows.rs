//! What loads of a turn follow from: it is done ahead as well.

use crate::op::name::{arith, tt};
use std::collections::BTreeSet;

use super::Load;
use crate::{Attribute, Block, Body, Op, Origin, Value};

/// What loads follow from within a turn.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Follows {
    /// Operations that say where is loaded, and what a turn gives to the next of that, in the order of the text.
    pub ops: Vec<Op>,
    /// Arguments of the loop's block that it depends on, but for the counter.
    pub carried: Vec<usize>,
}

/// What the operands of loads, and of what is done with their values before they are stored, follow from.
///
/// # Errors
/// Why it cannot be known ahead.
pub(super) fn follows(body: &Body, block: Block, loads: &[Load]) -> Result<Follows, String> {
    let own: BTreeSet<Op> = body.ops(block).iter().copied().collect();
    let given = body.ops(block).last().map(|last| body.op(*last).operands.clone()).unwrap_or_default();
    let mut open: Vec<Value> = Vec::new();
    for load in loads {
        let passed = |value: &&Value| match body.origin(**value) {
            Origin::Result(made, _) => made != load.op && !load.chain.contains(&made),
            Origin::Argument(..) => true,
        };
        let ops = std::iter::once(&load.op).chain(&load.chain);
        open.extend(ops.flat_map(|op| &body.op(*op).operands).filter(passed));
    }
    let (mut wanted, mut carried) = (BTreeSet::new(), BTreeSet::new());
    while let Some(value) = open.pop() {
        match body.origin(value) {
            Origin::Argument(of, number) if of == block && number > 0 => {
                let number = number as usize;
                if carried.insert(number) {
                    open.extend(given.get(number - 1));
                }
            }
            Origin::Result(op, _) if own.contains(&op) && !wanted.contains(&op) => {
                may_be_done(body, op)?;
                wanted.insert(op);
                open.extend(&body.op(op).operands);
            }
            _ => {}
        }
    }
    let ops = body.ops(block).iter().copied().filter(|op| wanted.contains(op)).collect();
    Ok(Follows { ops, carried: carried.into_iter().collect() })
}

/// Whether an operation may be done for a turn that there is not.
fn may_be_done(body: &Body, op: Op) -> Result<(), String> {
    let operation = body.op(op);
    let name = operation.name();
    if !operation.definition.traits.pure || !operation.regions.is_empty() {
        return Err(format!("where it loads from follows from `{name}`, which is not done ahead"));
    }
    let divides = matches!(
        name,
        arith::DIVSI
            | arith::DIVUI
            | arith::REMSI
            | arith::REMUI
            | arith::CEILDIVSI
            | arith::CEILDIVUI
            | arith::FLOORDIVSI
    );
    if divides && !operation.operands.get(1).is_some_and(|divisor| is_number(body, *divisor)) {
        return Err(format!(
            "where it loads from follows from `{name}` by what may be zero when there is no such turn"
        ));
    }
    Ok(())
}

/// Whether a value is a constant no element of which is zero.
fn is_number(body: &Body, value: Value) -> bool {
    let Origin::Result(op, _) = body.origin(value) else { return false };
    let operation = body.op(op);
    match (operation.name(), operation.attributes.get("value")) {
        (arith::CONSTANT, Some(Attribute::Number(number))) => number.bits != 0,
        (arith::CONSTANT, Some(Attribute::Dense(dense))) => dense.elements.iter().all(|&bits| bits != 0),
        (tt::SPLAT, _) => operation.operands.first().is_some_and(|&operand| is_number(body, operand)),
        _ => false,
    }
}
