//! Random changes of operations and their operands.

use tilewright_tile::op::Dialects;
use tilewright_tile::{FunctionBody, Op, Value};

use super::random::Random;
use super::types::all_values;

/// Replaces an operand by another value of the operand's type.
pub fn operand(body: &mut FunctionBody, op: Op, random: &mut Random) {
    let index = random.below(body.op(op).operands.len());
    let Some(&old) = body.op(op).operands.get(index) else { return };
    if let Some(new) = like(body, old, random) {
        body.op_mut(op).operands[index] = new;
    }
}

/// Swaps two operands of an operation.
pub fn swapped(body: &mut FunctionBody, op: Op, random: &mut Random) {
    let count = body.op(op).operands.len();
    let (one, other) = (random.below(count), random.below(count));
    if count > 1 {
        body.op_mut(op).operands.swap(one, other);
    }
}

/// Replaces an operation by another with as many operands and results.
pub fn another(body: &mut FunctionBody, op: Op, dialects: &Dialects, random: &mut Random) {
    let old = body.op(op).definition.clone();
    let counts =
        |groups: &[tilewright_tile::op::ValueGroup]| groups.iter().map(|group| group.count).collect::<Vec<_>>();
    let alike: Vec<_> = dialects
        .iter()
        .filter(|new| {
            counts(&new.operands) == counts(&old.operands)
                && counts(&new.results) == counts(&old.results)
                && new.regions == old.regions
                && new.traits.terminator == old.traits.terminator
        })
        .collect();
    // Within the same dialect the result is more often valid.
    let near: Vec<_> = alike.iter().copied().filter(|new| new.dialect() == old.dialect()).collect();
    let chosen = if random.once_in(4) { random.of(&alike) } else { random.of(&near) };
    if let Some(new) = chosen {
        body.op_mut(op).definition = (*new).clone();
    }
}

/// Deletes an operation; users of its results get other values of the type.
pub fn without(body: &mut FunctionBody, op: Op, random: &mut Random) {
    for result in body.op(op).results.clone() {
        if let Some(new) = like(body, result, random) {
            replace(body, result, new);
        }
    }
    for block in blocks(body) {
        let kept = body.ops(block).iter().copied().filter(|known| *known != op).collect();
        body.set_ops(block, kept);
    }
}

/// Duplicates an operation without regions; users get the results of the copy.
pub fn twice(body: &mut FunctionBody, op: Op) {
    let operation = body.op(op).clone();
    if !operation.regions.is_empty() || operation.definition.traits.terminator {
        return;
    }
    let types: Vec<_> = operation.results.iter().map(|value| body.value_type(*value).clone()).collect();
    let results = operation.results.clone();
    let copy = body.add_op(operation, types);
    let new = body.op(copy).results.clone();
    results.iter().zip(&new).for_each(|(old, new)| replace(body, *old, *new));
    // The copy keeps the operands of the original, which stays before it.
    for block in blocks(body) {
        if let Some(index) = body.ops(block).iter().position(|known| *known == op) {
            let mut ops = body.ops(block).to_vec();
            ops.insert(index + 1, copy);
            body.set_ops(block, ops);
        }
    }
}

/// Moves an operation, mostly to another block.
pub fn moved(body: &mut FunctionBody, op: Op, random: &mut Random) {
    let blocks = blocks(body);
    let Some(&target) = random.of(&blocks) else { return };
    for block in blocks {
        let kept = body.ops(block).iter().copied().filter(|known| *known != op).collect();
        body.set_ops(block, kept);
    }
    let mut ops = body.ops(target).to_vec();
    ops.insert(random.below(ops.len()), op);
    body.set_ops(target, ops);
}

/// Returns another value of the same type as this one; `None` if there is none.
fn like(body: &FunctionBody, value: Value, random: &mut Random) -> Option<Value> {
    let alike: Vec<_> = all_values(body)
        .into_iter()
        .filter(|other| *other != value && body.value_type(*other) == body.value_type(value))
        .collect();
    random.of(&alike).copied()
}

fn replace(body: &mut FunctionBody, old: Value, new: Value) {
    for op in body.walk_region(body.root()) {
        body.op_mut(op).operands.iter_mut().filter(|value| **value == old).for_each(|value| *value = new);
    }
}

fn blocks(body: &FunctionBody) -> Vec<tilewright_tile::Block> {
    let mut regions = vec![body.root()];
    regions.extend(body.walk_region(body.root()).iter().flat_map(|op| body.op(*op).regions.clone()));
    regions.into_iter().flat_map(|region| body.blocks(region).to_vec()).collect()
}
