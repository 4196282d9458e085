//! The floating-point types in which sums are made, and rounding to them.

use tilewright_kernel::Element;
use tilewright_target::{Format, RoundingMode};

use super::arithmetic::sign_extend;

/// The type in which products of floating-point elements are summed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sum {
    F16,
    Bf16,
    F32,
    F64,
}

impl Sum {
    pub(super) fn named(name: &str) -> Option<Self> {
        match name {
            "f16" => Some(Self::F16),
            "bf16" => Some(Self::Bf16),
            "f32" => Some(Self::F32),
            "f64" => Some(Self::F64),
            _ => None,
        }
    }

    fn format(self) -> Format {
        match self {
            Self::F16 => Format::F16,
            Self::Bf16 => Format::BF16,
            Self::F32 => Format::F32,
            Self::F64 => Format::F64,
        }
    }

    /// `sum + a * b`, rounded once, to nearest even. All three are exact values of their types, and
    /// those of the factors are no wider than this one, but that `f16` and `bf16` take each other.
    pub(super) fn multiply_add(self, sum: f64, a: f64, b: f64) -> f64 {
        match self {
            Self::F64 => a.mul_add(b, sum),
            // The product of two elements of at most 24 bits is exact.
            Self::F32 | Self::F16 | Self::Bf16 => self.round(odd_sum(a * b, sum)),
        }
    }

    /// `sum + product`, rounded once, to nearest even; the product is exact, whatever its range.
    pub(super) fn add_exact(self, sum: f64, product: f64) -> f64 {
        match self {
            Self::F64 => sum + product,
            Self::F32 | Self::F16 | Self::Bf16 => self.round(odd_sum(product, sum)),
        }
    }

    /// A value of this type, from one that is exact or was rounded to odd.
    pub(super) fn round(self, value: f64) -> f64 {
        match self {
            Self::F64 => value,
            // The host's own rounding, since most sums are of this type.
            Self::F32 => f64::from(value as f32),
            Self::F16 | Self::Bf16 => self.decode(self.encode(value)),
        }
    }

    /// The value of the bits of this type.
    pub(super) fn decode(self, bits: u64) -> f64 {
        match self {
            Self::F32 => f64::from(f32::from_bits(bits as u32)),
            Self::F16 | Self::Bf16 | Self::F64 => self.format().decode(bits),
        }
    }

    /// All bits of a magnitude.
    pub(super) fn magnitude_bits(self) -> u64 {
        u64::MAX >> (65 - self.format().bits())
    }

    /// The bits of a value, rounded to nearest even; NaN is the positive quiet one without payload.
    pub(super) fn encode(self, value: f64) -> u64 {
        // Types of sums have NaN and infinity, so that every number has its bits.
        self.format().round(value, RoundingMode::NearestEven).unwrap_or_default()
    }
}

/// A number of one element as one of another, rounded to nearest even; integers have a sign where `signed`.
pub(super) fn convert(from: Element, signed: bool, to: Element, bits: u64) -> u64 {
    let Some(sum) = Sum::named(to.name()) else { return bits };
    if !from.is_float() {
        let value = if signed { i128::from(sign_extend(bits, from.bits())) } else { i128::from(bits) };
        return sum.encode(if sum == Sum::F64 { value as f64 } else { odd_integer(value) });
    }
    Sum::named(from.name()).map_or(bits, |from| sum.encode(from.decode(bits)))
}

/// An integer of at most 65 bits, rounded to odd.
fn odd_integer(value: i128) -> f64 {
    let nearest = value as f64;
    let error = value - nearest as i128;
    if error == 0 || nearest.to_bits() & 1 == 1 {
        return nearest;
    }
    let grows = (error > 0) == (value > 0);
    f64::from_bits(if grows { nearest.to_bits() + 1 } else { nearest.to_bits() - 1 })
}

/// `a + b` rounded to odd: where it is not exact, of the two neighbours the one whose last bit is one.
/// A second rounding, to at most 51 bits, then gives what one alone would (Boldo and Melquiond, 2008).
fn odd_sum(a: f64, b: f64) -> f64 {
    let sum = a + b;
    let part = sum - a;
    let error = (a - (sum - part)) + (b - part);
    if !sum.is_finite() || error == 0.0 || sum.to_bits() & 1 == 1 {
        return sum;
    }
    // The error has the sign of the sum where the magnitude was rounded down.
    let grows = (error > 0.0) == (sum > 0.0);
    f64::from_bits(if grows { sum.to_bits() + 1 } else { sum.to_bits() - 1 })
}

/// The sum of numbers, rounded to odd. They and what their sums lose are within binary64's range.
///
/// It is kept as numbers of which none overlaps another (Shewchuk, "Adaptive Precision Floating-Point Arithmetic", 1997,
/// figure 6), the greatest last, so that the others together are less than its last bit.
pub(super) fn odd_total(terms: impl Iterator<Item = f64>) -> f64 {
    let mut parts: Vec<f64> = Vec::new();
    for mut term in terms {
        for part in &mut parts {
            let sum = *part + term;
            let of_term = sum - *part;
            *part = (*part - (sum - of_term)) + (term - of_term);
            term = sum;
        }
        parts.push(term);
        parts.retain(|&part| part != 0.0);
    }
    parts.into_iter().reduce(|low, high| odd_sum(high, low)).unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn narrow_sums_are_rounded_once() {
        // 1 + 2^-11 + 2^-40 lies just above the middle of two neighbours of f16; rounding to binary32
        // or binary64 in between to nearest would lose the last term or make a tie of it.
        let tiny = 2f64.powi(-20);
        let above = Sum::F16.multiply_add(1.0, tiny, 512.0 * (1.0 + 2f64.powi(-9)));
        assert_eq!(above, 1.0 + 2f64.powi(-10));
        assert_eq!(Sum::F16.multiply_add(1.0, tiny, 512.0), 1.0, "a tie goes to even");
        // 2048 + 1 + 2^-48: the last term is beyond binary64's bits of the sum.
        let least = 2f64.powi(-24);
        let odd = odd_sum(least * least, 32768.0 + 16.0);
        assert_eq!(Sum::F16.round(odd), 32800.0, "above a tie");
        assert_eq!(Sum::F16.multiply_add(32768.0, 4.0, 4.0), 32768.0, "a tie goes to even");
    }
}
