//! Elements whose products and sums are known without any rounding: integers as elements of every type.

use tilewright_target::{ElementType, RoundingMode};

/// A number that looks like any other.
pub(super) fn scrambled(index: u64, seed: u64) -> u64 {
    let mixed = (index + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ seed.wrapping_mul(0xd1b5_4a32_d192_ed03);
    let mixed = (mixed ^ mixed >> 31).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed ^ mixed >> 29
}

/// The element type of a name.
pub(super) fn number_named(name: &str) -> Result<ElementType, String> {
    ElementType::named(name).ok_or_else(|| format!("elements of type `{name}` are not known here"))
}

/// Integers as elements of a type.
pub(super) trait Exact: Copy {
    /// An integer from -2 to 2 as one that the type has: without its sign, or what its low bits stand for.
    fn nearest(self, value: i64) -> i64;

    /// The integer of the type that is nearest to a value; other types stay.
    fn saturated(self, value: i64) -> i64;

    /// The bits of an integer: wrapped, or where it is a floating-point number exact.
    fn encode(self, value: i64) -> Result<u64, String>;

    /// The value of a finite element; NaN for others.
    fn decode(self, bits: u64) -> f64;
}

impl Exact for ElementType {
    fn nearest(self, value: i64) -> i64 {
        match self {
            Self::Integer { bits, signed: true } => value << (64 - bits) >> (64 - bits),
            Self::Integer { bits, signed: false } => value.abs() & ((1 << bits.min(62)) - 1),
            Self::Float(_) => value,
        }
    }

    fn saturated(self, value: i64) -> i64 {
        match self {
            Self::Integer { bits, signed: true } => value.max(-1 << (bits - 1)).min(i64::MAX >> (64 - bits)),
            Self::Integer { bits, signed: false } => value.clamp(0, (1i64 << bits.min(62)) - 1),
            Self::Float(_) => value,
        }
    }

    fn encode(self, value: i64) -> Result<u64, String> {
        let Self::Float(format) = self else {
            return Ok(value as u64 & (u64::MAX >> (64 - self.bits())));
        };
        let bits = format.round(value as f64, RoundingMode::NearestEven);
        let exact =
            bits.filter(|&bits| value as f64 as i128 == i128::from(value) && format.decode(bits) == value as f64);
        exact.ok_or_else(|| format!("{value} is no number of {} bits of mantissa", format.widths()[1]))
    }

    fn decode(self, bits: u64) -> f64 {
        let value = match self {
            Self::Float(format) => format.decode(bits),
            Self::Integer { .. } => f64::NAN,
        };
        if value.is_finite() { value } else { f64::NAN }
    }
}
