//! Inserts one random fault into kernel modules. Code generators must reject such modules or compile them, but must not
//! crash.

use tilewright_kernel::Region;
use tilewright_testkit::seeded_rng::SeededRng;

use crate::kernels::{BIT, GLOBAL_POINTER, QUAD, WORD};
use crate::prelude::*;

const BYTE: Type = Type::Scalar(Element::I8);

/// Damages a region in one random place: a statement is dropped, doubled or moved, a result's type or number is
/// changed, or operands are swapped.
pub fn damage(region: &mut Region, numbers: &mut SeededRng) {
    if region.statements.is_empty() {
        return;
    }
    let at = numbers.below(region.statements.len());
    if let Op::If { then, .. } | Op::For { body: then, .. } = &mut region.statements[at].op
        && numbers.below(2) == 0
    {
        return damage(then, numbers);
    }
    let types = [
        BIT,
        BYTE,
        WORD,
        QUAD,
        GLOBAL_POINTER,
        Type::Pointer(MemorySpace::Shared),
        Type::Vector(Element::F16, 8),
        Type::Vector(Element::I1, 64),
    ];
    let other = region.statements[numbers.below(region.statements.len())].clone();
    let statement = &mut region.statements[at];
    match numbers.below(6) {
        0 => drop(region.statements.remove(at)),
        1 => region.statements.insert(numbers.below(at + 1), other),
        2 => statement.op = other.op,
        3 => statement.results.iter_mut().for_each(|result| result.1 = types[numbers.below(types.len())]),
        4 => statement.results.iter_mut().for_each(|result| result.0 = Value(numbers.below(40) as u32)),
        _ => {
            let shift = numbers.below(30) as u32;
            shuffle_operands(&mut statement.op, |value| Value((value.0 + shift) % 40));
        }
    }
}

fn shuffle_operands(op: &mut Op, other: impl Fn(Value) -> Value) {
    match op {
        Op::Binary { a, b, .. } | Op::Compare { a, b, .. } | Op::PermuteBytes { a, b, .. } => {
            (*a, *b) = (other(*b), other(*a))
        }
        Op::Unary { a, .. } | Op::Cast { a, .. } => *a = other(*a),
        Op::PtrAdd { pointer, bytes } => (*pointer, *bytes) = (other(*pointer), other(*bytes)),
        Op::Load { pointer, predicate, other: instead, .. } => {
            (*pointer, *predicate, *instead) = (other(*pointer), predicate.map(&other), instead.map(&other));
        }
        Op::Store { pointer, value, .. } => (*pointer, *value) = (other(*pointer), other(*value)),
        Op::Shuffle { value, lane, .. } => (*value, *lane) = (other(*value), other(*lane)),
        Op::Select { condition, a, b } => (*condition, *a, *b) = (other(*condition), other(*b), other(*a)),
        Op::Extract { vector, .. } => *vector = other(*vector),
        Op::Pack { elements } | Op::Yield { values: elements } => {
            elements.iter_mut().for_each(|value| *value = other(*value))
        }
        _ => {}
    }
}
