//! Tuples of values of any element types (Triton's variadic reduce operands): combining and shuffling them.

use tilewright_kernel::{Builder, Cast, Element, Type, Value};

use super::ConversionPlan;
use super::address::integer;
use super::shuffle_source::Source;

const WORD_BITS: u32 = 32;

/// The combine region of a reduction or scan: combines two tuples, element by element. The combination must be
/// associative; for a reduction also commutative.
pub type EmitCombine<'a> = dyn FnMut(&mut Builder, &[Value], &[Value]) -> Vec<Value> + 'a;

/// Returns the number of 32-bit words that `elements` elements of `element_bits` bits fill; elements of less than 32
/// bits are packed.
pub(super) fn words(element_bits: u32, elements: u64) -> u64 {
    (elements * u64::from(element_bits)).div_ceil(u64::from(WORD_BITS))
}

/// Returns the number of instructions that combine `combined` tuples, and of those that select `selected` tuples
/// without the selects that `Counts` has, one for each element: an operation on two words takes two instructions.
pub(super) fn count_wide_instructions(element_bits: &[u32], combined: u64, selected: u64) -> f64 {
    let of_tuple: u64 = element_bits.iter().map(|&bits| words(bits, 1)).sum();
    (combined * of_tuple + selected * (of_tuple - element_bits.len() as u64)) as f64
}

/// Emits shuffles by which a lane reads the `tuples` of the lane `source`; several narrow elements of one tensor share
/// a word. Returns the received tuples.
pub(super) fn emit_shuffle_tuples(builder: &mut Builder, source: Source, tuples: &[Vec<Value>]) -> Vec<Vec<Value>> {
    let tensors = tuples.first().map_or(0, Vec::len);
    let mut received: Vec<Vec<Value>> = vec![Vec::with_capacity(tensors); tuples.len()];
    for tensor in 0..tensors {
        let values: Vec<Value> = tuples.iter().map(|tuple| tuple[tensor]).collect();
        let bits = values.first().map_or(WORD_BITS, |&value| builder.type_of(value).bits());
        let together = (WORD_BITS / bits).max(1) as usize;
        let moved: Vec<Value> =
            values.chunks(together).flat_map(|group| emit_group_shuffle(builder, source, group)).collect();
        received.iter_mut().zip(moved).for_each(|(tuple, value)| tuple.push(value));
    }
    received
}

/// Emits the shuffle of the values `group`, which together fill at most one 32-bit word, or are one value of two words.
fn emit_group_shuffle(builder: &mut Builder, source: Source, group: &[Value]) -> Vec<Value> {
    let element = group.first().map(|&value| builder.type_of(value));
    let bits: Vec<Value> = group.iter().map(|&value| to_integer(builder, value)).collect();
    let packed = builder.pack(&bits);
    let width = builder.type_of(packed).bits();
    let as_integer = builder.cast(Cast::Bits, packed, integer(width));
    let moved = if width > WORD_BITS {
        let word_vector = builder.cast(Cast::Bits, as_integer, Type::Vector(Element::I32, 2));
        let shuffled_words: Vec<Value> = (0..2)
            .map(|half| {
                let half_word = builder.extract(word_vector, half);
                source.shuffle(builder, half_word)
            })
            .collect();
        let both = builder.pack(&shuffled_words);
        builder.cast(Cast::Bits, both, integer(width))
    } else {
        let word = builder.cast(Cast::ExtendU, as_integer, integer(WORD_BITS));
        let moved = source.shuffle(builder, word);
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

/// Emits the bitcast of a value to an integer.
fn to_integer(builder: &mut Builder, value: Value) -> Value {
    let bits = builder.type_of(value).bits();
    builder.cast(Cast::Bits, value, integer(bits))
}

/// Emits the bitcast of an integer to the type `ty`; `None` for no cast.
fn from_integer(builder: &mut Builder, value: Value, ty: Option<Type>) -> Value {
    match ty {
        Some(ty) => builder.cast(Cast::Bits, value, ty),
        None => value,
    }
}

/// Emits the conversion of each tensor of the tuples by its own plan: `tuples` has a tuple for each register of the
/// source layout, the result one for each register of the destination layout.
pub(super) fn moved(builder: &mut Builder, plans: &[ConversionPlan], tuples: &[Vec<Value>]) -> Vec<Vec<Value>> {
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

/// Transposes values that are indexed by (tensor, register) to tuples, indexed by (register, tensor).
pub(super) fn by_register(tensors: &[Vec<Value>]) -> Vec<Vec<Value>> {
    let count = tensors.first().map_or(0, Vec::len);
    (0..count).map(|register| tensors.iter().map(|values| values[register]).collect()).collect()
}

/// Transposes tuples, indexed by (register, tensor), back to values that are indexed by (tensor, register).
pub(super) fn by_tensor(tuples: &[Vec<Value>], tensors: usize) -> Vec<Vec<Value>> {
    (0..tensors).map(|tensor| tuples.iter().map(|tuple| tuple[tensor]).collect()).collect()
}
