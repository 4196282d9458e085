//! Casts of floating-point types that have no arithmetic in the kernel IR, and roundings without a cast operation.

use tilewright_kernel::{Binary, Builder, Cast, Compare, Element, Type, Unary, Value};
use tilewright_math::casts::{self, NarrowRounding, Overflow};
use tilewright_target::FloatFormat;
use tilewright_tile::FloatType;

use super::super::error::{LowerErrorReason, Lowered};
use super::super::types::{integer, native};

/// Converts a number of eight bits or fewer to binary32, exactly.
pub(super) fn widened(builder: &mut Builder, value: Value, from: FloatType) -> Lowered<Value> {
    let word = builder.cast(Cast::ExtendU, value, Type::Scalar(Element::I32));
    Ok(casts::emit_decode_to_f32(builder, word, from.format()))
}

/// Converts a number to a type of eight bits or fewer, saturating, as PTX's conversions do; rounds toward zero if
/// `to_zero`, otherwise to nearest even.
pub(super) fn rounded(
    builder: &mut Builder,
    value: Value,
    from: FloatType,
    to: FloatType,
    to_zero: bool,
) -> Lowered<Value> {
    let rounding = if to_zero { NarrowRounding::TowardZero } else { NarrowRounding::NearestEven };
    let single = match native(from) {
        Some(Element::F64) => casts::emit_round_to_odd_f32(builder, value),
        _ => builder.cast(Cast::ExtendF, value, Type::Scalar(Element::F32)),
    };
    Ok(casts::emit_round_to_format(builder, single, format(to)?, rounding, Overflow::Saturate))
}

fn format(float: FloatType) -> Lowered<FloatFormat> {
    let found = float.format();
    if found.field_widths()[1] > 0 && found.is_signed() { Ok(found) } else { Err(no_casts(float)) }
}

fn no_casts(float: FloatType) -> LowerErrorReason {
    LowerErrorReason::unsupported(format!("there are no casts of `{}`", float.name()))
}

/// Casts `f32` to `bf16` toward zero: takes the upper half, of a NaN with the quiet bit set, so that it stays a NaN.
fn upper_half(builder: &mut Builder, single: Value) -> Value {
    let bits = builder.cast(Cast::Bits, single, integer(32));
    let quiet = builder.binary_const(Binary::Or, bits, 0x40_0000);
    let is_number = builder.compare(Compare::FEq, single, single);
    let bits = builder.select(is_number, bits, quiet);
    let upper = builder.binary_const(Binary::ShrU, bits, 16);
    let upper = builder.cast(Cast::Truncate, upper, integer(16));
    builder.cast(Cast::Bits, upper, Type::Scalar(Element::Bf16))
}

/// Casts a number toward zero: takes the nearest number of the narrower type, or, if that is farther from zero, its
/// neighbour toward zero.
pub(super) fn toward_zero(builder: &mut Builder, value: Value, to: Element) -> Value {
    let (wide, narrow) = (builder.type_of(value), Type::Scalar(to));
    if (wide, to) == (Type::Scalar(Element::F32), Element::Bf16) {
        return upper_half(builder, value);
    }
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

/// Casts binary64 to a 16-bit type through binary32, with a single rounding.
pub(super) fn by_odd_single(builder: &mut Builder, value: Value, to: Element) -> Value {
    let single = casts::emit_round_to_odd_f32(builder, value);
    builder.cast(Cast::RoundF, single, Type::Scalar(to))
}
