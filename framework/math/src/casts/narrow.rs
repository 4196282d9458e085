//! Numbers rounded to narrower types, by integer arithmetic on the bits of binary32.

use crate::place::{Place, Real, Word};
use tilewright_kernel::{Binary, Builder, Cast, Compare, Element, Type, Value};
use tilewright_target::{ElementType, Format};

use super::widen::carrier;

/// Where a number between two of the narrower type goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NarrowRounding {
    /// To the nearer one, of two the even one.
    NearestEven,
    /// To the one next to zero.
    TowardZero,
}

/// What a number becomes that rounds to more than the greatest, and infinity.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Overflow {
    /// The greatest number, as of PTX's `cvt` with `.satfinite`.
    Saturate,
    /// Infinity, or NaN where there is none. What is rounded toward zero does not become infinite.
    Special,
}

/// A binary32 number rounded to a type of at most 16 bits, as [`carrier`]'s integer. The type has a sign and a
/// mantissa; another gives a value without meaning.
///
/// NaN becomes [`Format::nan`] without a sign, or where there is none the greatest number, as of PTX's `cvt`.
pub fn rounded(builder: &mut Builder, value: Value, to: Format, rounding: NarrowRounding, overflow: Overflow) -> Value {
    let bits = {
        let place = Place::new(builder, Element::F32);
        let x = place.real(value);
        bits(x, to, rounding, overflow).value
    };
    builder.cast(Cast::Truncate, bits, carrier(ElementType::Float(to)))
}

fn bits<'p>(x: Real<'p>, to: Format, rounding: NarrowRounding, overflow: Overflow) -> Word<'p> {
    let [exponent, mantissa, _] = to.widths();
    let magnitude = x.bits() & 0x7fff_ffff;
    let greatest = to.greatest();
    let number = finite(x.abs(), magnitude, to, rounding);
    let infinite = if to.has_infinity() { greatest + 1 } else { to.nan().unwrap_or(greatest) };
    let above = if overflow == Overflow::Saturate { greatest } else { infinite };
    let is_above = x.place.word(greatest).is_less(number);
    let rounded_up = if rounding == NarrowRounding::TowardZero { greatest } else { above };
    let number = is_above.select_word(rounded_up, number);
    let number = magnitude.is_equal(0x7f80_0000).select_word(above, number);
    let sign = (x.bits() >> 31) << u64::from(exponent + mantissa);
    // Where that is a NaN there is no negative zero.
    let signed = match to.nan() {
        Some(nan) if nan == 1 << (exponent + mantissa) => number.is_equal(0).select_word(number, number | sign),
        _ => number | sign,
    };
    x.is_unordered(x).select_word(to.nan().unwrap_or(greatest), signed)
}

/// The bits of a finite number without sign; above those of the greatest where it rounds to more.
fn finite<'p>(x: Real<'p>, bits: Word<'p>, to: Format, rounding: NarrowRounding) -> Word<'p> {
    let [_, mantissa, _] = to.widths();
    let dropped = u64::from(23 - mantissa);
    let rounded = match rounding {
        NarrowRounding::NearestEven => bits + ((bits >> dropped) & 1) + ((1 << (dropped - 1)) - 1),
        NarrowRounding::TowardZero => bits,
    };
    let normal = (rounded >> dropped) - (((127 - to.bias()) as u64) << mantissa);
    if to.bias() == 127 {
        // Subnormal numbers are those of binary32.
        return normal;
    }
    let is_small = x.is_less(to.least_normal());
    is_small.select_word(subnormal(x, to, rounding), normal)
}

/// How many of the least numbers are in one that is not normal in the type.
fn subnormal<'p>(x: Real<'p>, to: Format, rounding: NarrowRounding) -> Word<'p> {
    let step = 2f64.powi(to.least_exponent());
    match rounding {
        NarrowRounding::NearestEven => {
            // The last bit of the sum is one of the least numbers.
            let magic = step * f64::from(1u32 << 23);
            (x + magic).bits() - x.place.bits_of(magic)
        }
        NarrowRounding::TowardZero => (x.clamped(0.0, to.least_normal()) * (1.0 / step)).to_word(),
    }
}

/// A binary64 number as a binary32 one that rounds to every type of fewer than 23 digits as the number itself does: where it is
/// between two, the one whose last bit is one.
pub fn odd_single(builder: &mut Builder, value: Value) -> Value {
    let (word, wide_word) = (Type::Scalar(Element::I32), Type::Scalar(Element::I64));
    let (single, wide) = (Type::Scalar(Element::F32), Type::Scalar(Element::F64));
    let nearest = builder.cast(Cast::RoundF, value, single);
    let back = builder.cast(Cast::ExtendF, nearest, wide);
    let is_exact = builder.compare(Compare::FEq, back, value);
    let magnitudes = [back, value].map(|number| {
        let bits = builder.cast(Cast::Bits, number, wide_word);
        let one = builder.constant(wide_word, 1);
        builder.binary(Binary::Shl, bits, one)
    });
    let is_greater = builder.compare(Compare::LtU, magnitudes[1], magnitudes[0]);
    let bits = builder.cast(Cast::Bits, nearest, word);
    let less = builder.binary_const(Binary::Sub, bits, 1);
    let next = builder.select(is_greater, less, bits);
    let odd = builder.binary_const(Binary::Or, next, 1);
    let is_nan = builder.compare(Compare::FUnordered, value, value);
    let is_kept = builder.binary(Binary::Or, is_exact, is_nan);
    let kept = builder.select(is_kept, bits, odd);
    builder.cast(Cast::Bits, kept, single)
}
