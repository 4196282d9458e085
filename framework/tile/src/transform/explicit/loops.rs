//! Loops whose copies from global to shared memory can go ahead of what uses them.

use crate::op::name::{scf, tw};
use std::collections::BTreeSet;

use crate::transform::pipeliner::{Slice, backward, is_repeatable};
use crate::{Block, Body, Function, Op, TileType, Value, ValueOrigin};

/// A loop that fills tensors in shared memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Loop {
    /// The `scf.for`.
    pub op: Op,
    /// Its copies from global to shared memory.
    pub copies: Vec<Op>,
    /// The `tw.shared_tensor` that each fills.
    pub tensors: Vec<Op>,
    /// What the copies of a turn follow from, in the order of the text, they themselves last of each.
    pub ahead: Vec<Op>,
    /// Why copies cannot go ahead, where they cannot.
    pub rejected: Option<String>,
    /// Its products whose results nothing takes but the same product of the next turn, and what follows the loop: they may go on
    /// while the next turn begins.
    pub accumulator: Vec<Op>,
}

/// The loops of a function that fill tensors in shared memory, the innermost first of what contains another.
#[must_use]
pub fn loops(function: &Function) -> Vec<Loop> {
    let Some(body) = &function.body else { return Vec::new() };
    let all = body.walk(body.root()).into_iter().rev().filter(|op| body.op(*op).name() == scf::FOR);
    all.filter_map(|op| of_loop(body, op)).collect()
}

fn of_loop(body: &Body, op: Op) -> Option<Loop> {
    let block = *body.blocks(*body.op(op).regions.first()?).first()?;
    let copies: Vec<Op> = body.ops(block).iter().copied().filter(|copy| fills(body, *copy).is_some()).collect();
    if copies.is_empty() {
        return None;
    }
    let filled: Vec<Value> = copies.iter().filter_map(|copy| fills(body, *copy)).collect();
    let tensors: Vec<Op> = filled.iter().filter_map(|value| maker(body, *value)).collect();
    let (ahead, rejected) =
        match ahead(body, block, &copies).and_then(|ahead| used_here(body, block, &copies, &filled).map(|()| ahead)) {
            Ok(ahead) => (ahead, None),
            Err(reason) => (Vec::new(), Some(reason)),
        };
    let rejected = rejected
        .or_else(|| (tensors.len() < filled.len()).then(|| "a tensor that it fills is not made here".to_owned()));
    let products = body.ops(block).iter().copied().filter(|product| carried(body, block, *product).is_some());
    let accumulator = products.collect();
    Some(Loop { op, copies, tensors, ahead, rejected, accumulator })
}

/// The number, among what a loop carries, of the sums that a product of its turn does nothing but add to.
pub(super) fn carried(body: &Body, block: Block, product: Op) -> Option<usize> {
    let operation = body.op(product);
    let accumulator = operation.operands.get(2).copied().filter(|_| operation.name() == tw::MMA)?;
    let ValueOrigin::Argument(of, number @ 1..) = body.origin(accumulator) else { return None };
    let number = number as usize;
    let result = operation.results[0];
    let all = body.walk(body.root());
    let users = |value: Value| all.iter().copied().filter(move |op| body.op(*op).operands.contains(&value));
    let last = *body.ops(block).last()?;
    let given = &body.op(last).operands;
    let is_carried = of == block
        && given.get(number - 1) == Some(&result)
        && given.iter().filter(|value| **value == result).count() == 1
        && users(result).eq([last])
        && users(accumulator).eq([product]);
    is_carried.then_some(number - 1)
}

/// The tensor in shared memory that a copy fills from global memory.
fn fills(body: &Body, op: Op) -> Option<Value> {
    let operation = body.op(op);
    let target = body.operand(op, "dst").filter(|_| operation.name() == tw::COPY)?;
    let from_global = matches!(body.ty(operation.operands[0]), TileType::View(_));
    (from_global && matches!(body.ty(target), TileType::Memory(_))).then_some(target)
}

fn maker(body: &Body, value: Value) -> Option<Op> {
    match body.origin(value) {
        ValueOrigin::Result(op, _) if body.op(op).name() == tw::SHARED_TENSOR => Some(op),
        _ => None,
    }
}

/// The operations of an iteration that its copies depend on, and the copies.
fn ahead(body: &Body, block: Block, copies: &[Op]) -> Result<Vec<Op>, String> {
    let roots = copies.iter().flat_map(|copy| body.op(*copy).operands.iter().copied()).collect();
    let check = |op| match is_repeatable(body, op) {
        true => Ok(()),
        false => {
            let name = body.op(op).name();
            Err(format!("where it copies from follows from `{name}`, which is not done again"))
        }
    };
    let Slice { ops, carried } = backward(body, block, roots, |_| false, check)?;
    if !carried.is_empty() {
        return Err("where it copies from follows from what the loop carries".to_owned());
    }
    Ok(body.ops(block).iter().copied().filter(|op| ops.contains(op) || copies.contains(op)).collect())
}

/// Whether the tensors are used in this turn alone, each filled once and then read.
fn used_here(body: &Body, block: Block, copies: &[Op], filled: &[Value]) -> Result<(), String> {
    let distinct: BTreeSet<Value> = filled.iter().copied().collect();
    if distinct.len() < filled.len() {
        return Err("a tensor is filled by several copies".to_owned());
    }
    let within: BTreeSet<Op> = body.ops(block).iter().flat_map(|op| body.nested(*op)).collect();
    for op in body.walk(body.root()) {
        let uses = body.op(op).operands.iter().any(|operand| distinct.contains(operand));
        if uses && !within.contains(&op) {
            return Err("a tensor that it fills is used outside of it".to_owned());
        }
    }
    for (copy, value) in copies.iter().zip(filled) {
        let first =
            body.ops(block).iter().find(|op| body.nested(**op).iter().any(|op| body.op(*op).operands.contains(value)));
        if first != Some(copy) {
            return Err("a tensor is used before it is filled".to_owned());
        }
    }
    Ok(())
}
