//! Floating-point types that the kernel IR has no arithmetic for, and roundings that it has no casts for.

use crate::kernel::{Binary, Builder, Cast, Compare, Element, Type, Unary, Value};
use crate::tile::Float;

use super::super::error::{Lowered, Reason};
use super::super::types::integer;

/// A number of eight bits or fewer as binary32, exactly.
pub(super) fn widened(_builder: &mut Builder, _value: Value, from: Float) -> Lowered<Value> {
    Err(Reason::unsupported(format!("numbers of type `{}` are not read yet", from.name())))
}

/// A number as one of eight bits or fewer.
pub(super) fn rounded(_: &mut Builder, _: Value, _: Float, to: Float, _to_zero: bool) -> Lowered<Value> {
    Err(Reason::unsupported(format!("numbers of type `{}` are not made yet", to.name())))
}

/// A number in a narrower type, toward zero: the nearest one, or where that is farther from zero, the one before it.
pub(super) fn toward_zero(builder: &mut Builder, value: Value, to: Element) -> Value {
    let (wide, narrow) = (builder.type_of(value), Type::Scalar(to));
    let nearest = builder.cast(Cast::RoundF, value, narrow);
    let back = builder.cast(Cast::ExtendF, nearest, wide);
    let [back, magnitude] = [back, value].map(|value| builder.unary(Unary::FAbs, value));
    let is_farther = builder.compare(Compare::FLt, magnitude, back);
    let word = integer(to.bits());
    let bits = builder.cast(Cast::Bits, nearest, word);
    let one = builder.constant(word, 1);
    let before = builder.binary(Binary::Sub, bits, one);
    let chosen = builder.select(is_farther, before, bits);
    builder.cast(Cast::Bits, chosen, narrow)
}
