//! Slices of a loop's iteration: the operations that values of it depend on, and what of them one iteration hands to the next.

use std::collections::BTreeSet;

use crate::op::name::arith;
use crate::{Block, Body, Op, Value, ValueOrigin};

/// A part of an iteration that can be executed by itself.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(in crate::transform) struct Slice {
    /// Its operations, in the order of the text.
    pub ops: Vec<Op>,
    /// The arguments of the loop's block that it depends on, ascending, without the counter.
    pub carried: Vec<usize>,
}

/// The backward slice of `roots` in the iteration of a block: all that they depend on, through values that the loop carries too.
/// It ends at values of which `is_known` holds.
///
/// # Errors
/// The first that `check` gives for an operation of the slice.
pub(in crate::transform) fn backward(
    body: &Body,
    block: Block,
    roots: Vec<Value>,
    is_known: impl Fn(Value) -> bool,
    check: impl Fn(Op) -> Result<(), String>,
) -> Result<Slice, String> {
    let own: BTreeSet<Op> = body.ops(block).iter().copied().collect();
    let yielded = body.ops(block).last().map(|last| body.op(*last).operands.clone()).unwrap_or_default();
    let (mut ops, mut carried, mut open) = (BTreeSet::new(), BTreeSet::new(), roots);
    while let Some(value) = open.pop() {
        match body.origin(value) {
            _ if is_known(value) => {}
            ValueOrigin::Argument(of, number) if of == block && number > 0 => {
                let number = number as usize;
                if carried.insert(number) {
                    open.extend(yielded.get(number - 1));
                }
            }
            ValueOrigin::Result(op, _) if own.contains(&op) && ops.insert(op) => {
                check(op)?;
                open.extend(body.nested(op).into_iter().flat_map(|op| body.op(op).operands.iter().copied()));
            }
            _ => {}
        }
    }
    let ops = body.ops(block).iter().copied().filter(|op| ops.contains(op)).collect();
    Ok(Slice { ops, carried: carried.into_iter().collect() })
}

/// Whether an operation may be executed again for a later iteration: it has neither effects nor regions.
pub(in crate::transform) fn is_repeatable(body: &Body, op: Op) -> bool {
    let operation = body.op(op);
    operation.definition.traits.pure && operation.regions.is_empty()
}

/// Checks that an operation may be executed for an iteration that the loop does not have.
///
/// # Errors
/// It has effects or regions, or divides by a value that may be zero there.
pub(in crate::transform) fn check_speculatable(body: &Body, op: Op) -> Result<(), String> {
    let operation = body.op(op);
    let name = operation.name();
    if !is_repeatable(body, op) {
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
    if divides && !operation.operands.get(1).is_some_and(|divisor| body.is_nonzero(*divisor)) {
        return Err(format!(
            "where it loads from follows from `{name}` by what may be zero when there is no such turn"
        ));
    }
    Ok(())
}
