//! Floating-point arithmetic: `f32` and `f64` by the host; `f16` and `bf16` in `f32`, followed by a second rounding to
//! the type. The two roundings give the correctly rounded result. Let p be the significand bits of the type, 11 or 8.
//!
//! - In the normal range of `f32`, the first rounding is harmless if it keeps at least 2p + 2 bits (Figueroa, 1995),
//!   and `f32` has 24.
//! - Below that range `f32` has fewer bits, but additions are exact: results are multiples of the smallest `bf16`,
//!   2^-133.
//! - Products of `bf16` have 16 bits. A product of at least 2^-134 is exact in `f32`. A smaller one becomes at most
//!   2^-134, which then rounds to zero, the even neighbour.
//! - Quotients of `bf16` below that range differ from the midpoint of two neighbours by more than 2^-142, or are equal
//!   to it; `f32` distinguishes these. Products and quotients of `f16` and all square roots are within the range.
//!
//! A NaN result is always the positive quiet NaN without payload, since hardware differs.

use half::{bf16, f16};

use super::bits::{UNSPECIFIED, map, mask, zip};
use crate::rounding::AccumulatorType;
use tilewright_kernel::{Binary, Compare, Element, Unary};

/// Floating-point types that have the minimum and maximum operations of the kernel IR.
trait Ordered: Copy + PartialOrd {
    const NAN: Self;
    fn is_negative(self) -> bool;

    fn least(self, other: Self) -> Self {
        if self < other || self == other && self.is_negative() {
            self
        } else if other <= self {
            other
        } else {
            Self::NAN
        }
    }

    fn greatest(self, other: Self) -> Self {
        if self > other || self == other && other.is_negative() {
            self
        } else if other >= self {
            other
        } else {
            Self::NAN
        }
    }

    #[expect(clippy::eq_op, reason = "a NaN is what does not equal itself")]
    fn chosen(self, other: Self, choose: fn(Self, Self) -> Self) -> Self {
        if self != self {
            other
        } else if other != other {
            self
        } else {
            choose(self, other)
        }
    }

    fn min_number(self, other: Self) -> Self {
        self.chosen(other, Self::least)
    }

    fn greatest_number(self, other: Self) -> Self {
        self.chosen(other, Self::greatest)
    }
}

impl Ordered for f32 {
    const NAN: Self = f32::NAN;
    fn is_negative(self) -> bool {
        self.is_sign_negative()
    }
}

impl Ordered for f64 {
    const NAN: Self = f64::NAN;
    fn is_negative(self) -> bool {
        self.is_sign_negative()
    }
}

/// Applies a floating-point operation to each pair of elements of `a` and `b`, and writes the results to `to`. Each
/// `u64` has the bits of one element.
pub(crate) fn float(op: Binary, element: Element, a: &[u64], b: &[u64], to: &mut [u64]) {
    match op {
        Binary::FAdd => rounded(element, a, b, to, |x, y| x + y, |x, y| x + y),
        Binary::FSub => rounded(element, a, b, to, |x, y| x - y, |x, y| x - y),
        Binary::FMul => rounded(element, a, b, to, |x, y| x * y, |x, y| x * y),
        Binary::FDiv => rounded(element, a, b, to, |x, y| x / y, |x, y| x / y),
        Binary::FMinNumber => rounded(element, a, b, to, f32::min_number, f64::min_number),
        Binary::FMaxNumber => rounded(element, a, b, to, f32::greatest_number, f64::greatest_number),
        Binary::FMinimum => rounded(element, a, b, to, f32::least, f64::least),
        Binary::FMaximum => rounded(element, a, b, to, f32::greatest, f64::greatest),
        // Integer operations are in `integer`.
        _ => {}
    }
}

fn rounded(
    element: Element,
    a: &[u64],
    b: &[u64],
    to: &mut [u64],
    single: impl Fn(f32, f32) -> f32,
    double: impl Fn(f64, f64) -> f64,
) {
    match element {
        Element::F16 => zip(a, b, to, |x, y| {
            let result = single(f16::from_bits(x as u16).to_f32(), f16::from_bits(y as u16).to_f32());
            u64::from(if result.is_nan() { 0x7e00 } else { f16::from_f32(result).to_bits() })
        }),
        Element::Bf16 => zip(a, b, to, |x, y| {
            let result = single(bf16::from_bits(x as u16).to_f32(), bf16::from_bits(y as u16).to_f32());
            u64::from(if result.is_nan() { 0x7fc0 } else { bf16::from_f32(result).to_bits() })
        }),
        Element::F32 => zip(a, b, to, |x, y| {
            let result = single(f32::from_bits(x as u32), f32::from_bits(y as u32));
            u64::from(if result.is_nan() { 0x7fc0_0000 } else { result.to_bits() })
        }),
        _ => zip(a, b, to, |x, y| {
            let result = double(f64::from_bits(x), f64::from_bits(y));
            if result.is_nan() { 0x7ff8_0000_0000_0000 } else { result.to_bits() }
        }),
    }
}

/// Applies a floating-point operation to each element of `a`, and writes the results to `to`. Each `u64` has the bits
/// of one element.
pub(crate) fn float_unary(op: Unary, element: Element, a: &[u64], to: &mut [u64]) {
    let sign = 1 << (element.bits() - 1);
    match op {
        Unary::FNeg => map(a, to, |x| x ^ sign),
        Unary::FAbs => map(a, to, |x| x & !sign),
        Unary::FSqrt => rounded_one(element, a, to, f32::sqrt, f64::sqrt),
        Unary::FFloor => rounded_one(element, a, to, f32::floor, f64::floor),
        Unary::FCeil => rounded_one(element, a, to, f32::ceil, f64::ceil),
        Unary::FTrunc => rounded_one(element, a, to, f32::trunc, f64::trunc),
        Unary::FNearest => rounded_one(element, a, to, f32::round_ties_even, f64::round_ties_even),
        // Integer operations are in `integer`.
        Unary::LeadingZeros | Unary::PopCount => {}
    }
}

fn rounded_one(element: Element, a: &[u64], to: &mut [u64], single: impl Fn(f32) -> f32, double: impl Fn(f64) -> f64) {
    rounded(element, a, a, to, |x, _| single(x), |x, _| double(x));
}

/// Compares each pair of floating-point elements of `a` and `b`, and writes 1 to `to` if the comparison holds, else 0.
/// Each `u64` of `a` and `b` has the bits of one element.
pub(crate) fn float_compare(op: Compare, element: Element, a: &[u64], b: &[u64], to: &mut [u64]) {
    match op {
        Compare::FEq => decoded(element, a, b, to, |x, y| x == y),
        Compare::FLt => decoded(element, a, b, to, |x, y| x < y),
        Compare::FLe => decoded(element, a, b, to, |x, y| x <= y),
        Compare::FUnordered => decoded(element, a, b, to, |x, y| x.is_nan() || y.is_nan()),
        // Integer comparisons are in `integer`.
        _ => {}
    }
}

fn decoded(element: Element, a: &[u64], b: &[u64], to: &mut [u64], holds: impl Fn(f64, f64) -> bool) {
    let Some(number) = AccumulatorType::named(element.name()) else { return };
    zip(a, b, to, |x, y| u64::from(holds(number.decode(x), number.decode(y))));
}

/// Converts each element of `a` from floating point to an integer of `bits` bits, rounding towards zero, and writes the
/// integers to `to`; [`UNSPECIFIED`] bits for a value that does not fit.
pub(crate) fn to_integer(from: Element, signed: bool, bits: u32, a: &[u64], to: &mut [u64]) {
    let Some(number) = AccumulatorType::named(from.name()) else { return };
    let mask = mask(bits);
    let end = if signed { 2f64.powi(bits as i32 - 1) } else { 2f64.powi(bits as i32) };
    let start = if signed { -end } else { 0.0 };
    map(a, to, |x| {
        let truncated = number.decode(x).trunc();
        let fits = truncated >= start && truncated < end;
        (if fits { truncated as i128 as u64 } else { UNSPECIFIED }) & mask
    });
}
