//! Rounding of floating-point values to narrower types, by integer arithmetic on the bits of binary32.

use crate::formula_builder::{FormulaBuilder, Int, Real};
use tilewright_kernel::{Binary, Builder, Cast, Compare, Element, Type, Unary, Value};
use tilewright_target::{ElementType, FloatFormat};

use super::widen::carrier_type;

/// The rounding mode of a cast to a narrower type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NarrowRounding {
    /// To the nearest value, ties to even.
    NearestEven,
    /// Toward zero.
    TowardZero,
}

/// The result of a cast if the operand is infinite, or rounds to a value beyond the greatest finite value of the type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Overflow {
    /// The greatest finite value, as PTX `cvt` with `.satfinite`.
    Saturate,
    /// Infinity, or NaN if the type has no infinity. Rounding toward zero never produces infinity.
    Special,
}

/// Rounds a binary32 value to a type of at most 16 bits; returns the encoding, in an integer of the type
/// [`carrier_type`]. The type must have a sign and a mantissa; otherwise the result is unspecified.
///
/// NaN becomes [`FloatFormat::encode_nan`] without a sign, or, if the type has no NaN, the greatest finite value, as
/// PTX `cvt` does.
pub fn emit_round_to_format(
    builder: &mut Builder,
    value: Value,
    to: FloatFormat,
    rounding: NarrowRounding,
    overflow: Overflow,
) -> Value {
    let bits = {
        let formula = FormulaBuilder::new(builder, Element::F32);
        let x = formula.wrap_real(value);
        bits(x, to, rounding, overflow).value
    };
    builder.cast(Cast::Truncate, bits, carrier_type(ElementType::Float(to)))
}

fn bits<'p>(x: Real<'p>, to: FloatFormat, rounding: NarrowRounding, overflow: Overflow) -> Int<'p> {
    let [exponent, mantissa, _] = to.field_widths();
    let magnitude = x.to_bits() & 0x7fff_ffff;
    let greatest = to.encode_max_finite();
    let number = finite(x.abs(), magnitude, to, rounding);
    let infinite = if to.has_infinity() { greatest + 1 } else { to.encode_nan().unwrap_or(greatest) };
    let above = if overflow == Overflow::Saturate { greatest } else { infinite };
    let is_above = x.formula.int_constant(greatest).is_less(number);
    let rounded_up = if rounding == NarrowRounding::TowardZero { greatest } else { above };
    let number = is_above.select_int(rounded_up, number);
    let number = magnitude.is_equal(0x7f80_0000).select_int(above, number);
    let sign = (x.to_bits() >> 31) << u64::from(exponent + mantissa);
    // If the encoding of negative zero is NaN, there is no negative zero.
    let signed = match to.encode_nan() {
        Some(nan) if nan == 1 << (exponent + mantissa) => number.is_equal(0).select_int(number, number | sign),
        _ => number | sign,
    };
    x.is_unordered(x).select_int(to.encode_nan().unwrap_or(greatest), signed)
}

/// Returns the encoding, without the sign bit, of a finite value rounded to the type `to`. `x` is the value's
/// magnitude, and `bits` has the bits of `x`. The result exceeds the encoding of the greatest finite value if the value
/// overflows.
fn finite<'p>(x: Real<'p>, bits: Int<'p>, to: FloatFormat, rounding: NarrowRounding) -> Int<'p> {
    let [_, mantissa, _] = to.field_widths();
    let dropped = u64::from(23 - mantissa);
    let rounded = match rounding {
        NarrowRounding::NearestEven => bits + ((bits >> dropped) & 1) + ((1 << (dropped - 1)) - 1),
        NarrowRounding::TowardZero => bits,
    };
    let normal = (rounded >> dropped) - (((127 - to.bias()) as u64) << mantissa);
    if to.bias() == 127 {
        // Types with the exponent bias of binary32 have its subnormals, which are rounded like normal numbers.
        return normal;
    }
    let is_small = x.is_less(to.min_normal());
    is_small.select_int(subnormal(x, to, rounding), normal)
}

/// Rounds a magnitude below the type's minimum normal number to a multiple of the minimum subnormal; returns the
/// encoding.
fn subnormal<'p>(x: Real<'p>, to: FloatFormat, rounding: NarrowRounding) -> Int<'p> {
    let step = 2f64.powi(to.min_exponent());
    match rounding {
        NarrowRounding::NearestEven => {
            // Adding the constant rounds: the last bit of the sum has the weight of the type's minimum subnormal.
            let magic = step * f64::from(1u32 << 23);
            (x + magic).to_bits() - x.formula.encode_constant(magic)
        }
        NarrowRounding::TowardZero => (x.clamp(0.0, to.min_normal()) * (1.0 / step)).to_int(),
    }
}

/// Rounds a binary64 value to odd in binary32: if inexact, the neighbour whose last bit is one. A second rounding to
/// any type of fewer than 23 significant bits then equals a direct rounding.
pub fn emit_round_to_odd_f32(builder: &mut Builder, value: Value) -> Value {
    let int = Type::Scalar(Element::I32);
    let (single, wide) = (Type::Scalar(Element::F32), Type::Scalar(Element::F64));
    let nearest = builder.cast(Cast::RoundF, value, single);
    let back = builder.cast(Cast::ExtendF, nearest, wide);
    let is_exact = builder.compare(Compare::FEq, back, value);
    let magnitudes = [back, value].map(|number| builder.unary(Unary::FAbs, number));
    let is_greater = builder.compare(Compare::FLt, magnitudes[1], magnitudes[0]);
    let bits = builder.cast(Cast::Bits, nearest, int);
    let less = builder.binary_const(Binary::Sub, bits, 1);
    let next = builder.select(is_greater, less, bits);
    let odd = builder.binary_const(Binary::Or, next, 1);
    let is_nan = builder.compare(Compare::FUnordered, back, value);
    let is_kept = builder.binary(Binary::Or, is_exact, is_nan);
    let kept = builder.select(is_kept, bits, odd);
    builder.cast(Cast::Bits, kept, single)
}
