//! The loops around a pipelined loop with a producer warp. The consumers and the producer warp both execute them.

use std::collections::BTreeSet;

use super::slice::{Slice, backward, is_repeatable};
use crate::op::name::{scf, tt, tw};
use crate::transform::loads::PointerBases;
use crate::{Block, FunctionBody, Op, TileType, Value};

/// A loop around a pipelined loop, such as the loop over tiles of a persistent kernel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EnclosingLoop {
    /// The `scf.for` operation of the loop.
    pub op: Op,
    /// The part of an iteration on which the prefetches depend; the producer warp executes it.
    pub(in crate::transform) slice: Slice,
}

/// Finds the loops around the loop `of`, the outermost one first.
///
/// `prefetched` are the operations that a producer warp executes in an iteration of `of`, and `carried` the block
/// arguments of its body on which they depend, in the numbering of [`Slice::carried`]. The producer need not compute
/// values that satisfy `is_known`.
///
/// # Errors
/// The reason why a producer warp cannot execute the loops: an operation other than `scf.for` is around the loop, the
/// prefetches depend on an operation with effects, on a tensor, or on a result of an inner loop, or the loops may write
/// memory that the prefetches read.
pub(in crate::transform) fn find_enclosing_loops(
    body: &FunctionBody,
    of: Op,
    prefetched: &[Op],
    carried: &[usize],
    is_known: impl Fn(Value) -> bool,
) -> Result<Vec<EnclosingLoop>, String> {
    let (mut found, mut at) = (Vec::new(), of);
    let mut roots = read_values(body, of, prefetched, carried);
    while let Some((op, block)) = find_parent(body, at) {
        let name = body.op(op).name();
        if name != scf::FOR {
            return Err(format!("`{name}` is around the loop"));
        }
        let slice = backward(body, block, roots.clone(), &is_known, |op| check_repeatable(body, op))?;
        roots.extend(read_values(body, op, &slice.ops, &slice.carried));
        found.push(EnclosingLoop { op, slice });
        at = op;
    }
    found.reverse();
    match found.first() {
        Some(outermost) => check_writes(body, outermost.op, prefetched).map(|()| found),
        None => Ok(found),
    }
}

/// Checks that the loop `outermost` writes no memory that the prefetches of a loop within it read: the producer warp
/// prefetches for later iterations of `outermost` while the consumers still execute earlier ones.
fn check_writes(body: &FunctionBody, outermost: Op, prefetched: &[Op]) -> Result<(), String> {
    let bases = PointerBases::of(body);
    let is_view = |value: Value| matches!(body.value_type(value), TileType::View(_));
    let reads = |op: &Op| match body.op(*op).name() {
        tt::LOAD | tt::DESCRIPTOR_LOAD | tt::DESCRIPTOR_GATHER => true,
        tw::COPY => is_view(body.op(*op).operands[0]),
        _ => false,
    };
    let all_read: Vec<Op> = prefetched.iter().flat_map(|op| body.op_and_nested_ops(*op)).filter(reads).collect();
    let written = |op: Op| match body.op(op).name() {
        tw::COPY => body.operand(op, "dst").filter(|to| is_view(*to)),
        _ => body.op(op).operands.first().copied().filter(|_| body.op(op).is_global_store()),
    };
    for op in body.op_and_nested_ops(outermost) {
        let Some(written) = written(op).map(|pointer| bases.find(pointer)) else { continue };
        let may_alias = |read: &Op| {
            let read = bases.find(body.op(*read).operands[0]);
            read.is_none() || written.is_none() || read == written
        };
        if all_read.iter().any(may_alias) {
            let name = body.op(op).name();
            return Err(format!("`{name}` of an enclosing loop may write memory that the copies read"));
        }
    }
    Ok(())
}

/// The outermost of the loops `enclosing`, which are around the loop `of`; `of` itself without any.
#[must_use]
pub fn outermost_loop(enclosing: &[EnclosingLoop], of: Op) -> Op {
    enclosing.first().map_or(of, |outermost| outermost.op)
}

/// The values that the loop `of` reads if it executes only the operations `ops` and carries only the values `carried`.
fn read_values(body: &FunctionBody, of: Op, ops: &[Op], carried: &[usize]) -> Vec<Value> {
    let operands = &body.op(of).operands;
    let initial = carried.iter().filter_map(|index| operands.get(2 + index));
    let within: BTreeSet<Op> = ops.iter().flat_map(|op| body.op_and_nested_ops(*op)).collect();
    let read = within.iter().flat_map(|op| &body.op(*op).operands);
    operands.iter().take(3).chain(initial).chain(read).copied().collect()
}

/// Finds the `scf.for` loops around an operation, the innermost first, through any other operations.
#[must_use]
pub fn find_loops_around(body: &FunctionBody, of: Op) -> Vec<Op> {
    let parent = |op: &Op| find_parent(body, *op).map(|(parent, _)| parent);
    let around = std::iter::successors(parent(&of), parent);
    around.filter(|op| body.op(*op).name() == scf::FOR).collect()
}

/// The operation around `op`, and its block that contains `op`; `None` if `op` is in the body of the function.
fn find_parent(body: &FunctionBody, op: Op) -> Option<(Op, Block)> {
    body.walk_region(body.root()).into_iter().find_map(|parent| {
        let blocks = body.op(parent).regions.iter().flat_map(|region| body.blocks(*region));
        blocks.copied().find(|block| body.ops(*block).contains(&op)).map(|block| (parent, block))
    })
}

/// Checks that the producer warp can execute an operation again, which computes no tensor. Branches may contain such
/// operations.
fn check_repeatable(body: &FunctionBody, op: Op) -> Result<(), String> {
    let is_branch = |op: Op| body.op(op).name() == scf::IF || body.op(op).definition.traits.terminator;
    let is_scalar = |op: Op| body.op(op).results.iter().all(|value| body.value_type(*value).as_tensor().is_none());
    let wrong = |op: &Op| !(is_repeatable(body, *op) || is_branch(*op)) || !is_scalar(*op);
    match body.op_and_nested_ops(op).into_iter().find(wrong) {
        Some(op) => Err(format!("the copies depend on `{}` of an enclosing loop", body.op(op).name())),
        None => Ok(()),
    }
}
