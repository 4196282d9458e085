//! Tuples of values of any element types: how they are combined, and how they reach other lanes.

use tilewright_kernel::{Builder, Cast, Element, Type, Value};

use super::Plan;
use super::address::integer;
use super::source::Source;

const WORD_BITS: u32 = 32;

/// Combines two tuples of values, element by element, into one: the operation of a reduction or of a
/// scan. It must be associative, for a reduction commutative too.
pub type Combine<'a> = dyn FnMut(&mut Builder, &[Value], &[Value]) -> Vec<Value> + 'a;

/// Words that so many elements fill.
pub(super) fn words(element_bits: u32, elements: u64) -> u64 {
    (elements * u64::from(element_bits)).div_ceil(u64::from(WORD_BITS))
}

/// The tuples of another lane; narrow elements travel together.
pub(super) fn exchanged(builder: &mut Builder, source: Source, tuples: &[Vec<Value>]) -> Vec<Vec<Value>> {
    let tensors = tuples.first().map_or(0, Vec::len);
    let mut received: Vec<Vec<Value>> = vec![Vec::with_capacity(tensors); tuples.len()];
    for tensor in 0..tensors {
        let values: Vec<Value> = tuples.iter().map(|tuple| tuple[tensor]).collect();
        let bits = values.first().map_or(WORD_BITS, |&value| builder.type_of(value).bits());
        let together = (WORD_BITS / bits).max(1) as usize;
        let moved: Vec<Value> =
            values.chunks(together).flat_map(|group| exchanged_group(builder, source, group)).collect();
        received.iter_mut().zip(moved).for_each(|(tuple, value)| tuple.push(value));
    }
    received
}

/// Values that fill at most a word, or one that fills two.
fn exchanged_group(builder: &mut Builder, source: Source, group: &[Value]) -> Vec<Value> {
    let element = group.first().map(|&value| builder.type_of(value));
    let bits: Vec<Value> = group.iter().map(|&value| to_integer(builder, value)).collect();
    let packed = builder.pack(&bits);
    let width = builder.type_of(packed).bits();
    let whole = builder.cast(Cast::Bits, packed, integer(width));
    let moved = if width > WORD_BITS {
        let halves = builder.cast(Cast::Bits, whole, Type::Vector(Element::I32, 2));
        let parts: Vec<Value> = (0..2)
            .map(|half| {
                let part = builder.extract(halves, half);
                source.exchange(builder, part)
            })
            .collect();
        let both = builder.pack(&parts);
        builder.cast(Cast::Bits, both, integer(width))
    } else {
        let word = builder.cast(Cast::ExtendU, whole, integer(WORD_BITS));
        let moved = source.exchange(builder, word);
        builder.cast(Cast::Truncate, moved, integer(width))
    };
    let elements = builder.type_of(packed);
    let elements = builder.cast(Cast::Bits, moved, elements);
    (0..group.len() as u32)
        .map(|index| {
            let value = builder.extract(elements, index);
            from_integer(builder, value, element)
        })
        .collect()
}

/// The bits of a value as an integer.
fn to_integer(builder: &mut Builder, value: Value) -> Value {
    let bits = builder.type_of(value).bits();
    builder.cast(Cast::Bits, value, integer(bits))
}

/// The value whose bits an integer has.
fn from_integer(builder: &mut Builder, value: Value, ty: Option<Type>) -> Value {
    match ty {
        Some(ty) => builder.cast(Cast::Bits, value, ty),
        None => value,
    }
}

/// The tuples where conversions, one for each tensor, put them.
pub(super) fn moved(builder: &mut Builder, plans: &[Plan], tuples: &[Vec<Value>]) -> Vec<Vec<Value>> {
    let tensors: Vec<Vec<Value>> = (plans.iter().enumerate())
        .map(|(tensor, plan)| {
            let values: Vec<Value> = tuples.iter().map(|tuple| tuple[tensor]).collect();
            let element = values.first().map(|&value| builder.type_of(value));
            let bits: Vec<Value> = values.iter().map(|&value| to_integer(builder, value)).collect();
            let moved = plan.emit(builder, &bits);
            moved.into_iter().map(|value| from_integer(builder, value, element)).collect()
        })
        .collect();
    by_register(&tensors)
}

/// For each register the values of all tensors.
pub(super) fn by_register(tensors: &[Vec<Value>]) -> Vec<Vec<Value>> {
    let count = tensors.first().map_or(0, Vec::len);
    (0..count).map(|register| tensors.iter().map(|values| values[register]).collect()).collect()
}

/// For each tensor the values of all registers.
pub(super) fn by_tensor(tuples: &[Vec<Value>], tensors: usize) -> Vec<Vec<Value>> {
    (0..tensors).map(|tensor| tuples.iter().map(|tuple| tuple[tensor]).collect()).collect()
}
