//! Combining between the lanes of a warp.

use crate::kernel::{Builder, Cast, Counts, Element, Type, Value};

use super::super::address::{Thread, integer};
use super::Combine;

const WORD_BITS: u32 = 32;

/// One step: lanes that differ in a bit combine what they hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LaneStep {
    /// Both end with all sums.
    Sum {
        /// The lane bit.
        lane: u32,
    },
    /// Each ends with half of the sums: the lower lane with those of the even registers, the upper one
    /// with those of the odd ones. Registers are numbered anew without their lowest bit.
    Halve {
        /// The lane bit.
        lane: u32,
    },
}

/// What the steps execute on `2^register_bits` registers of each tensor.
pub(super) fn counts(steps: &[LaneStep], element_bits: &[u32], register_bits: u32) -> Counts {
    let (mut counts, mut registers) = (Counts::default(), 1u64 << register_bits);
    for step in steps {
        if let LaneStep::Halve { .. } = step {
            counts.selects += registers * element_bits.len() as u64;
            registers /= 2;
        }
        counts.exchanges += element_bits.iter().map(|&bits| words(bits, registers)).sum::<u64>();
    }
    counts
}

/// Words that so many elements fill.
fn words(element_bits: u32, elements: u64) -> u64 {
    (elements * u64::from(element_bits)).div_ceil(u64::from(WORD_BITS))
}

impl LaneStep {
    /// The tuples after the step, one for each register that is left.
    pub(super) fn emit(
        self,
        builder: &mut Builder,
        thread: Thread,
        tuples: Vec<Vec<Value>>,
        combine: &mut Combine,
    ) -> Vec<Vec<Value>> {
        let lane = match self {
            Self::Sum { lane } => return butterfly(builder, thread, lane, tuples, combine),
            Self::Halve { lane } => lane,
        };
        let upper = thread.parity(builder, 1 << lane);
        let choose = |builder: &mut Builder, pair: &[Vec<Value>], keep: bool| -> Vec<Value> {
            let (even, odd) = (&pair[0], &pair[1]);
            let chosen = even.iter().zip(odd).map(|(&even, &odd)| {
                let (above, below) = if keep { (odd, even) } else { (even, odd) };
                builder.select(upper, above, below)
            });
            chosen.collect()
        };
        let kept: Vec<_> = tuples.chunks(2).map(|pair| choose(builder, pair, true)).collect();
        let sent: Vec<_> = tuples.chunks(2).map(|pair| choose(builder, pair, false)).collect();
        let received = exchanged(builder, thread, lane, &sent);
        kept.iter().zip(&received).map(|(own, other)| combine(builder, own, other)).collect()
    }
}

/// Every lane combines its tuples with those of the lane that differs in one bit.
pub(super) fn butterfly(
    builder: &mut Builder,
    thread: Thread,
    lane: u32,
    tuples: Vec<Vec<Value>>,
    combine: &mut Combine,
) -> Vec<Vec<Value>> {
    let received = exchanged(builder, thread, lane, &tuples);
    tuples.iter().zip(&received).map(|(own, other)| combine(builder, own, other)).collect()
}

/// The tuples of the lane that differs in one bit; narrow elements travel together.
fn exchanged(builder: &mut Builder, thread: Thread, lane: u32, tuples: &[Vec<Value>]) -> Vec<Vec<Value>> {
    let other = thread.neighbour(builder, 1 << lane);
    let tensors = tuples.first().map_or(0, Vec::len);
    let mut received: Vec<Vec<Value>> = vec![Vec::with_capacity(tensors); tuples.len()];
    for tensor in 0..tensors {
        let values: Vec<Value> = tuples.iter().map(|tuple| tuple[tensor]).collect();
        let bits = values.first().map_or(WORD_BITS, |&value| builder.type_of(value).bits());
        let together = (WORD_BITS / bits).max(1) as usize;
        let moved: Vec<Value> =
            values.chunks(together).flat_map(|group| exchanged_group(builder, other, group)).collect();
        received.iter_mut().zip(moved).for_each(|(tuple, value)| tuple.push(value));
    }
    received
}

/// Values that fill at most a word, or one that fills two.
fn exchanged_group(builder: &mut Builder, lane: Value, group: &[Value]) -> Vec<Value> {
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
                builder.exchange(part, lane)
            })
            .collect();
        let both = builder.pack(&parts);
        builder.cast(Cast::Bits, both, integer(width))
    } else {
        let word = builder.cast(Cast::ExtendU, whole, integer(WORD_BITS));
        let moved = builder.exchange(word, lane);
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
pub(super) fn to_integer(builder: &mut Builder, value: Value) -> Value {
    let bits = builder.type_of(value).bits();
    builder.cast(Cast::Bits, value, integer(bits))
}

/// The value whose bits an integer has.
pub(super) fn from_integer(builder: &mut Builder, value: Value, ty: Option<Type>) -> Value {
    match ty {
        Some(ty) => builder.cast(Cast::Bits, value, ty),
        None => value,
    }
}
