//! Random changes of the attributes of modules, functions and operations.

use tilewright_tile::op::AttributeKind;
use tilewright_tile::{Attribute, Attributes, DenseElements, FunctionBody, NumberAttribute, Op, TileModule, TileType};

use super::random::Random;
use super::types::cut_bits;

/// Numbers of warps and the like that replace others, including invalid ones.
const COUNTS: [i32; 12] = [1, 2, 4, 8, 16, 32, 64, 128, 3, 0, -1, 1 << 20];

/// Changes the launch attributes of a module, such as the number of warps of a block.
pub fn launch(module: &mut TileModule, random: &mut Random) {
    const NAMES: [&str; 4] = ["ttg.num-warps", "ttg.num-warps", "ttg.threads-per-warp", "ttg.num-ctas"];
    let likely = if random.once_in(4) { COUNTS.len() } else { 6 };
    module.attributes.set(NAMES[random.below(NAMES.len())], COUNTS[random.below(likely)]);
}

/// Changes an attribute of an operation.
pub fn of_operation(body: &mut FunctionBody, op: Op, random: &mut Random) {
    let definition = body.op(op).definition.clone();
    let names: Vec<String> = body.op(op).attributes.iter().map(|(name, _)| name.to_owned()).collect();
    let known: Vec<&str> = definition.attributes.iter().map(|row| &row.name[..]).collect();
    let chosen = match random.below(3) {
        0 => random.of(&known).map(|name| (*name).to_owned()),
        _ => random.of(&names).cloned(),
    };
    let Some(name) = chosen else { return };
    let words: Vec<String> = match definition.find_attribute(&name).map(|row| &row.kind) {
        Some(AttributeKind::Keyword(words)) => words.keys().cloned().collect(),
        _ => Vec::new(),
    };
    let attributes = &mut body.op_mut(op).attributes;
    let new = match (attributes.get(&name), random.of(&words)) {
        (_, Some(word)) => Attribute::Keyword(word.as_str().into()),
        (Some(old), None) => changed(old, random),
        (None, None) => COUNTS[random.below(COUNTS.len())].into(),
    };
    attributes.set(&name, new);
}

/// Changes an attribute of a function's argument.
pub fn of_argument(all: &mut [Attributes], random: &mut Random) {
    const HINTS: [i32; 8] = [1, 2, 8, 16, 64, 3, 0, -16];
    let index = random.below(all.len());
    for attributes in all.iter_mut().skip(index).take(1) {
        attributes.set("tt.divisibility", HINTS[random.below(HINTS.len())]);
    }
}

fn changed(old: &Attribute, random: &mut Random) -> Attribute {
    match old {
        Attribute::Bool(value) => Attribute::Bool(!value),
        Attribute::Number(NumberAttribute { bits, ty }) => {
            Attribute::Number(NumberAttribute { bits: number(*bits, ty, random), ty: ty.clone() })
        }
        Attribute::List(list) => Attribute::List(shuffled(list, random, changed)),
        Attribute::Array(ty, bits) => {
            Attribute::Array(ty.clone(), shuffled(bits, random, |bits, random| number(*bits, ty, random)))
        }
        Attribute::Dense(DenseElements { ty, elements }) => {
            let elements = elements.iter().map(|bits| number(*bits, ty.element(), random)).collect();
            Attribute::Dense(DenseElements { ty: ty.clone(), elements })
        }
        other => other.clone(),
    }
}

/// Returns a list with one element changed, removed or added, or two swapped.
fn shuffled<T: Clone>(list: &[T], random: &mut Random, change: impl Fn(&T, &mut Random) -> T) -> Vec<T> {
    let mut list = list.to_vec();
    if list.is_empty() {
        return list;
    }
    let (one, other) = (random.below(list.len()), random.below(list.len()));
    match random.below(4) {
        0 => drop(list.remove(one)),
        1 => list.insert(one, list[other].clone()),
        2 => list.swap(one, other),
        _ => list[one] = change(&list[one], random),
    }
    list
}

/// Returns an unusual bit pattern of a type, a small number, or a neighbour of `bits`.
fn number(bits: u64, ty: &TileType, random: &mut Random) -> u64 {
    let new = match random.below(8) {
        0 => 0,
        1 => u64::MAX,
        2 => u64::MAX >> 1,
        3 => 1 << random.below(64),
        4 => random.below(9) as u64,
        5 => bits.wrapping_add(1),
        6 => bits.wrapping_sub(1),
        _ => random.bits(),
    };
    cut_bits(new, ty)
}
