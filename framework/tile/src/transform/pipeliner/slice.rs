//! Slices of a loop iteration: the operations that given values depend on, and the values that one iteration passes to
//! the next.

use std::collections::BTreeSet;

use crate::op::name::{arith, tt};
use crate::{Block, FunctionBody, Op, Value, ValueOrigin};

/// A slice: a part of an iteration that can be executed independently of the rest.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(in crate::transform) struct Slice {
    /// The operations of the slice, in the order of the text.
    pub ops: Vec<Op>,
    /// The operations that may only be executed for an iteration that the loop has, in the order of the text: loads, and
    /// the operations that depend on them. They follow `ops`.
    pub guarded: Vec<Op>,
    /// Indices of the loop body's block arguments on which the slice depends, ascending; the counter has index 0 and is
    /// not among them.
    pub carried: Vec<usize>,
}

/// Returns the backward slice of `roots` in one iteration of the loop with the block `block` as its body.
///
/// It has all operations on which the roots depend, also through loop-carried values, and ends at values that satisfy
/// `is_known`.
///
/// # Errors
/// The first error of `check` for an operation of the slice.
pub(in crate::transform) fn backward(
    body: &FunctionBody,
    block: Block,
    roots: Vec<Value>,
    is_known: impl Fn(Value) -> bool,
    check: impl Fn(Op) -> Result<(), String>,
) -> Result<Slice, String> {
    let loop_ops: BTreeSet<Op> = body.ops(block).iter().copied().collect();
    let yielded = body.ops(block).last().map(|last| body.op(*last).operands.clone()).unwrap_or_default();
    let (mut ops, mut carried, mut open) = (BTreeSet::new(), BTreeSet::new(), roots);
    while let Some(value) = open.pop() {
        match body.value_origin(value) {
            _ if is_known(value) => {}
            ValueOrigin::Argument(of, index) if of == block && index > 0 => {
                let index = index as usize;
                if carried.insert(index) {
                    open.extend(yielded.get(index - 1));
                }
            }
            ValueOrigin::Result(op, _) if loop_ops.contains(&op) && ops.insert(op) => {
                check(op)?;
                open.extend(body.op_and_nested_ops(op).into_iter().flat_map(|op| body.op(op).operands.iter().copied()));
            }
            _ => {}
        }
    }
    let ops = body.ops(block).iter().copied().filter(|op| ops.contains(op)).collect();
    Ok(Slice { ops, guarded: Vec::new(), carried: carried.into_iter().collect() })
}

impl Slice {
    /// Moves the operations that depend on loads of the slice, and the loads, from `ops` to `guarded`.
    ///
    /// # Errors
    /// The next iteration's slice depends on a loaded value, through a loop-carried value.
    pub fn guard_loads(mut self, body: &FunctionBody, block: Block) -> Result<Self, String> {
        let mut loaded: BTreeSet<Value> = BTreeSet::new();
        for op in std::mem::take(&mut self.ops) {
            let operation = body.op(op);
            let depends = operation.operands.iter().any(|value| loaded.contains(value));
            if depends || operation.name() == tt::LOAD {
                loaded.extend(&operation.results);
                self.guarded.push(op);
            } else {
                self.ops.push(op);
            }
        }
        let yielded = body.ops(block).last().map(|last| body.op(*last).operands.clone()).unwrap_or_default();
        match self.carried.iter().any(|index| yielded.get(index - 1).is_some_and(|value| loaded.contains(value))) {
            true => Err("its slice carries a loaded value to the next iteration".to_owned()),
            false => Ok(self),
        }
    }
}

/// Whether an operation can be executed again, for a later iteration: it has neither effects nor regions.
pub(in crate::transform) fn is_repeatable(body: &FunctionBody, op: Op) -> bool {
    let operation = body.op(op);
    operation.definition.traits.pure && operation.regions.is_empty()
}

/// Checks that an operation can be executed speculatively, for an iteration that the loop does not have.
///
/// # Errors
/// The operation has effects or regions, or may divide by zero.
pub(in crate::transform) fn check_speculatable(body: &FunctionBody, op: Op) -> Result<(), String> {
    let operation = body.op(op);
    let name = operation.name();
    if !is_repeatable(body, op) {
        return Err(format!("its slice has `{name}`, which cannot be executed for a later iteration"));
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
        return Err(format!("its slice has `{name}` by a value that may be zero in an iteration that does not exist"));
    }
    Ok(())
}
