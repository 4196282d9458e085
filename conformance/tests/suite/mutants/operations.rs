//! Changes of operations and of what they take.

use tilewright_tile::op::Dialects;
use tilewright_tile::{Body, Op, Value};

use super::random::Random;
use super::types::all_values;

/// An operand becomes another value of its type.
pub fn operand(body: &mut Body, op: Op, random: &mut Random) {
    let place = random.below(body.op(op).operands.len());
    let Some(&old) = body.op(op).operands.get(place) else { return };
    if let Some(new) = like(body, old, random) {
        body.op_mut(op).operands[place] = new;
    }
}

/// Two operands change places.
pub fn swapped(body: &mut Body, op: Op, random: &mut Random) {
    let count = body.op(op).operands.len();
    let (one, other) = (random.below(count), random.below(count));
    if count > 1 {
        body.op_mut(op).operands.swap(one, other);
    }
}

/// An operation becomes another that takes and gives as many values.
pub fn another(body: &mut Body, op: Op, dialects: &Dialects, random: &mut Random) {
    let old = body.op(op).definition.clone();
    let counts =
        |groups: &[tilewright_tile::op::OperandGroup]| groups.iter().map(|group| group.count).collect::<Vec<_>>();
    let alike: Vec<_> = dialects
        .iter()
        .filter(|new| {
            counts(&new.operands) == counts(&old.operands)
                && counts(&new.results) == counts(&old.results)
                && new.regions == old.regions
                && new.traits.terminator == old.traits.terminator
        })
        .collect();
    // Within its own dialect most of them mean something.
    let near: Vec<_> = alike.iter().copied().filter(|new| new.dialect() == old.dialect()).collect();
    let chosen = if random.once_in(4) { random.of(&alike) } else { random.of(&near) };
    if let Some(new) = chosen {
        body.op_mut(op).definition = (*new).clone();
    }
}

/// An operation goes; what took its results takes others of the type.
pub fn without(body: &mut Body, op: Op, random: &mut Random) {
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

/// An operation without regions is done a second time, and the second results are what others take.
pub fn twice(body: &mut Body, op: Op) {
    let operation = body.op(op).clone();
    if !operation.regions.is_empty() || operation.definition.traits.terminator {
        return;
    }
    let types: Vec<_> = operation.results.iter().map(|value| body.ty(*value).clone()).collect();
    let results = operation.results.clone();
    let copy = body.add_op(operation, types);
    let new = body.op(copy).results.clone();
    results.iter().zip(&new).for_each(|(old, new)| replace(body, *old, *new));
    // The copy itself takes what the first took, and the first stays before it.
    for block in blocks(body) {
        if let Some(place) = body.ops(block).iter().position(|known| *known == op) {
            let mut ops = body.ops(block).to_vec();
            ops.insert(place + 1, copy);
            body.set_ops(block, ops);
        }
    }
}

/// An operation goes to another place, most often in another block.
pub fn moved(body: &mut Body, op: Op, random: &mut Random) {
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

/// Another value of the type of this one.
fn like(body: &Body, value: Value, random: &mut Random) -> Option<Value> {
    let alike: Vec<_> =
        all_values(body).into_iter().filter(|other| *other != value && body.ty(*other) == body.ty(value)).collect();
    random.of(&alike).copied()
}

fn replace(body: &mut Body, old: Value, new: Value) {
    for op in body.walk(body.root()) {
        body.op_mut(op).operands.iter_mut().filter(|value| **value == old).for_each(|value| *value = new);
    }
}

fn blocks(body: &Body) -> Vec<tilewright_tile::Block> {
    let mut regions = vec![body.root()];
    regions.extend(body.walk(body.root()).iter().flat_map(|op| body.op(*op).regions.clone()));
    regions.into_iter().flat_map(|region| body.blocks(region).to_vec()).collect()
}
