//! Elements with exact products and sums: small integers in every element type.

use tilewright_target::{ElementType, RoundingMode};

/// Returns a pseudo-random 64-bit number that depends on an index and a seed only.
pub(super) fn scrambled(index: u64, seed: u64) -> u64 {
    let mixed = (index + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ seed.wrapping_mul(0xd1b5_4a32_d192_ed03);
    let mixed = (mixed ^ mixed >> 31).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed ^ mixed >> 29
}

/// Parses the name of an element type.
pub(super) fn element_type_from_name(name: &str) -> Result<ElementType, String> {
    ElementType::from_name(name).ok_or_else(|| format!("elements of type `{name}` are not supported"))
}

/// Encoding of small integers as elements of a type.
pub(super) trait Exact: Copy {
    /// Maps an integer from -2 to 2 to a value of this type: a signed integer type keeps its low bits, an unsigned one
    /// the low bits of its magnitude; floating-point types leave it unchanged.
    fn representable(self, value: i64) -> i64;

    /// Clamps an integer to the range of an integer type; other types leave it unchanged.
    fn saturated(self, value: i64) -> i64;

    /// Encodes an integer as the bits of an element: wrapped for integer types, exact for floating-point types; an
    /// error if the type cannot represent it.
    fn encode(self, value: i64) -> Result<u64, String>;

    /// Decodes a floating-point element; NaN if it is not finite, and for integer types.
    fn decode(self, bits: u64) -> f64;
}

impl Exact for ElementType {
    fn representable(self, value: i64) -> i64 {
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
        exact.ok_or_else(|| format!("{value} does not fit into {} mantissa bits", format.field_widths()[1]))
    }

    fn decode(self, bits: u64) -> f64 {
        let value = match self {
            Self::Float(format) => format.decode(bits),
            Self::Integer { .. } => f64::NAN,
        };
        if value.is_finite() { value } else { f64::NAN }
    }
}
