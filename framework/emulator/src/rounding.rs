//! Floating-point accumulation types, and rounding to them.

use tilewright_kernel::{Cast, Element};
use tilewright_target::{FloatFormat, RoundingMode};

use super::arithmetic::sign_extend;

/// The type of the accumulator for products of floating-point elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum AccumulatorType {
    F16,
    Bf16,
    F32,
    F64,
}

impl AccumulatorType {
    pub(super) fn named(name: &str) -> Option<Self> {
        match name {
            "f16" => Some(Self::F16),
            "bf16" => Some(Self::Bf16),
            "f32" => Some(Self::F32),
            "f64" => Some(Self::F64),
            _ => None,
        }
    }

    fn format(self) -> FloatFormat {
        match self {
            Self::F16 => FloatFormat::F16,
            Self::Bf16 => FloatFormat::BF16,
            Self::F32 => FloatFormat::F32,
            Self::F64 => FloatFormat::F64,
        }
    }

    /// Computes `sum + a * b` with one rounding to nearest even. All inputs are exact values of their types. The
    /// operands are no wider than the accumulator, except that `f16` and `bf16` accept each other.
    pub(super) fn multiply_add(self, sum: f64, a: f64, b: f64) -> f64 {
        match self {
            Self::F64 => a.mul_add(b, sum),
            // The product of two elements, each of at most 24 significand bits, is exact in binary64.
            Self::F32 | Self::F16 | Self::Bf16 => self.round(odd_sum(a * b, sum)),
        }
    }

    /// Computes `sum + product` with one rounding to nearest even; the product is exact, whatever its range.
    pub(super) fn add_exact(self, sum: f64, product: f64) -> f64 {
        match self {
            Self::F64 => sum + product,
            Self::F32 | Self::F16 | Self::Bf16 => self.round(odd_sum(product, sum)),
        }
    }

    /// Rounds a value that is exact or was rounded to odd to this type.
    pub(super) fn round(self, value: f64) -> f64 {
        match self {
            Self::F64 => value,
            // The host's conversion is fastest, and most accumulators have this type.
            Self::F32 => f64::from(value as f32),
            Self::F16 | Self::Bf16 => self.decode(self.encode(value)),
        }
    }

    /// Returns the value of the element of this type that has these bits.
    pub(super) fn decode(self, bits: u64) -> f64 {
        match self {
            Self::F32 => f64::from(f32::from_bits(bits as u32)),
            Self::F16 | Self::Bf16 | Self::F64 => self.format().decode(bits),
        }
    }

    /// Returns a mask of all bits of an element of this type except the sign bit.
    pub(super) fn magnitude_bits(self) -> u64 {
        u64::MAX >> (65 - self.format().bits())
    }

    /// Encodes a value with rounding to nearest even; NaN becomes the positive quiet NaN without payload.
    pub(super) fn encode(self, value: f64) -> u64 {
        // The host's conversion is fastest, and most accumulators have this type.
        if self == Self::F32 && !value.is_nan() {
            return u64::from((value as f32).to_bits());
        }
        // Accumulation types have NaN and infinity, so every value has an encoding.
        self.format().round(value, RoundingMode::NearestEven).unwrap_or_default()
    }
}

/// Converts an element to a floating-point type. `rounding` is for floating-point elements; integers are rounded to
/// nearest even, and `signed` states how their bits are read. Elements are given and returned as bits.
pub(super) fn convert((from, signed): (Element, bool), to: Element, rounding: RoundingMode, bits: u64) -> u64 {
    let Some(sum) = AccumulatorType::named(to.name()) else { return bits };
    if !from.is_float() {
        let value = if signed { i128::from(sign_extend(bits, from.bits())) } else { i128::from(bits) };
        return sum.encode(if sum == AccumulatorType::F64 { value as f64 } else { odd_integer(value) });
    }
    // Accumulation types have NaN and infinity, so every value has an encoding.
    let encode = |value| sum.format().round(value, rounding).unwrap_or_default();
    AccumulatorType::named(from.name()).map_or(bits, |from| encode(from.decode(bits)))
}

/// Converts a number between an 8-bit floating-point format and the type `wide`; numbers beyond the format's greatest
/// become the greatest.
pub(super) fn convert_byte(cast: Cast, wide: Element, bits: u64) -> u64 {
    let sum = AccumulatorType::named(wide.name()).unwrap_or(AccumulatorType::F32);
    if let Some(format) = cast.extended_format() {
        return sum.encode(format.decode(bits & 0xff));
    }
    let Some(format) = cast.rounded_format() else { return bits };
    let (value, greatest) = (sum.decode(bits), format.decode(format.encode_max_finite()));
    let rounded = match value.is_nan() {
        true => format.encode_nan(),
        false => format.round(value.clamp(-greatest, greatest), RoundingMode::NearestEven),
    };
    rounded.unwrap_or_default()
}

/// Rounds an integer of at most 65 bits to binary64, to odd: if it is inexact, to the neighbour whose last bit is one.
fn odd_integer(value: i128) -> f64 {
    let nearest = value as f64;
    let error = value - nearest as i128;
    if error == 0 || nearest.to_bits() & 1 == 1 {
        return nearest;
    }
    let grows = (error > 0) == (value > 0);
    f64::from_bits(if grows { nearest.to_bits() + 1 } else { nearest.to_bits() - 1 })
}

/// Computes `a + b` rounded to odd: if inexact, the neighbour whose last bit is one. A second rounding to at most 51
/// bits then equals a single rounding (Boldo and Melquiond, 2008).
fn odd_sum(a: f64, b: f64) -> f64 {
    let sum = a + b;
    let partial = sum - a;
    let error = (a - (sum - partial)) + (b - partial);
    if !sum.is_finite() || error == 0.0 || sum.to_bits() & 1 == 1 {
        return sum;
    }
    // The error has the sign of the sum if the magnitude was rounded down.
    let grows = (error > 0.0) == (sum > 0.0);
    f64::from_bits(if grows { sum.to_bits() + 1 } else { sum.to_bits() - 1 })
}

/// Sums the terms with rounding to odd. The terms and the rounding errors are within the range of binary64.
///
/// The sum is kept as a list of non-overlapping numbers in ascending order (Shewchuk, "Adaptive Precision
/// Floating-Point Arithmetic", 1997, figure 6), so that all numbers but the greatest together are less than its last
/// bit.
pub(super) fn odd_total(terms: impl Iterator<Item = f64>) -> f64 {
    let mut partials: Vec<f64> = Vec::new();
    for mut term in terms {
        for partial in &mut partials {
            let sum = *partial + term;
            let of_term = sum - *partial;
            *partial = (*partial - (sum - of_term)) + (term - of_term);
            term = sum;
        }
        partials.push(term);
        partials.retain(|&partial| partial != 0.0);
    }
    partials.into_iter().reduce(|low, high| odd_sum(high, low)).unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn narrow_multiply_adds_are_rounded_once() {
        // 1 + 2^-11 + 2^-40 lies just above the midpoint of two `f16` neighbours. An intermediate rounding to nearest
        // even in binary32 or binary64 would lose the last term or produce a tie.
        let tiny = 2f64.powi(-20);
        let above = AccumulatorType::F16.multiply_add(1.0, tiny, 512.0 * (1.0 + 2f64.powi(-9)));
        assert_eq!(above, 1.0 + 2f64.powi(-10));
        assert_eq!(AccumulatorType::F16.multiply_add(1.0, tiny, 512.0), 1.0, "a tie goes to even");
        // 2048 + 1 + 2^-48: binary64 has no bits for the last term.
        let least = 2f64.powi(-24);
        let odd = odd_sum(least * least, 32768.0 + 16.0);
        assert_eq!(AccumulatorType::F16.round(odd), 32800.0, "above a tie");
        assert_eq!(AccumulatorType::F16.multiply_add(32768.0, 4.0, 4.0), 32768.0, "a tie goes to even");
    }
}
