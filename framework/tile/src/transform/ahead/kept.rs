//! What is left of a turn whose loads are done elsewhere.

use std::collections::BTreeSet;

use super::found::within;
use crate::{Block, Body, Op, Origin, Value};

/// What a turn still does, and what the loop still carries.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Kept {
    /// Operations of the turn.
    pub ops: BTreeSet<Op>,
    /// Arguments of its block but for the counter, ascending.
    pub carried: Vec<usize>,
}

/// What `wanted` values stand for is there already; operations that only gave it go, and so do values that the loop carried for
/// them alone. `used` says whether anything behind the loop uses its result of a number.
pub(super) fn kept(body: &Body, block: Block, wanted: &BTreeSet<Value>, used: &dyn Fn(usize) -> bool) -> Kept {
    let own: BTreeSet<Op> = body.ops(block).iter().copied().collect();
    let given = body.ops(block).last().map(|last| body.op(*last).operands.clone()).unwrap_or_default();
    let (mut ops, mut carried) = (BTreeSet::new(), BTreeSet::new());
    let mut open: Vec<Value> = Vec::new();
    let keep = |op: Op, ops: &mut BTreeSet<Op>, open: &mut Vec<Value>| {
        if ops.insert(op) {
            open.extend(within(body, op).into_iter().flat_map(|op| body.op(op).operands.clone()));
        }
    };
    for number in (0..given.len()).filter(|number| used(*number)) {
        carried.insert(number + 1);
        open.push(given[number]);
    }
    while let Some(value) = open.pop() {
        match body.origin(value) {
            _ if wanted.contains(&value) => {}
            Origin::Argument(of, number) if of == block && number > 0 => {
                let number = number as usize;
                if carried.insert(number) {
                    open.extend(given.get(number - 1));
                }
            }
            Origin::Result(op, _) if own.contains(&op) => keep(op, &mut ops, &mut open),
            _ => {}
        }
    }
    Kept { ops, carried: carried.into_iter().collect() }
}
