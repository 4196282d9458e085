//! Element types of tensors and matrix operands by the names that vendors write, and what their bits mean.
//!
//! Sources: IEEE 754; OCP 8-bit Floating Point Specification (`e4m3`, `e5m2`) and OCP Microscaling
//! Formats (`fp4`); for the `fnuz` variants Noune et al., "8-bit Numerical Formats for Deep Neural
//! Networks", as documented with ROCm; for `tf32` NVIDIA's PTX ISA: the upper 19 bits of binary32.

use std::fmt;

/// How an element's bits are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Number {
    /// Two's complement, or without sign, of so many bits.
    Integer {
        /// Width.
        bits: u32,
        /// Whether the highest bit is a sign.
        signed: bool,
    },
    /// Floating point.
    Float(Format),
}

/// A binary floating-point format: a sign bit, exponent bits, mantissa bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Format {
    exponent: u32,
    mantissa: u32,
    bias: i32,
    specials: Specials,
    /// Low bits of the element that are not read.
    ignored: u32,
}

/// Which encodings are no numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Specials {
    /// The highest exponent: infinity where the mantissa is zero, else NaN.
    Ieee,
    /// All ones is NaN; there is no infinity.
    AllOnes,
    /// The negative zero is NaN; there is no infinity.
    NegativeZero,
    /// Everything is a number.
    None,
}

const fn format(exponent: u32, mantissa: u32, specials: Specials) -> Format {
    let bias = (1 << (exponent - 1)) - 1;
    // Where no exponent is lost to infinities, the formats without negative zero move all by one.
    let bias = if matches!(specials, Specials::NegativeZero) { bias + 1 } else { bias };
    Format { exponent, mantissa, bias, specials, ignored: 0 }
}

impl Number {
    /// The type of a name; `None` for one that is not known.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        let integer = |bits, signed| Some(Self::Integer { bits, signed });
        Some(Self::Float(match name {
            "f64" => format(11, 52, Specials::Ieee),
            "f32" => format(8, 23, Specials::Ieee),
            "tf32" | "xf32" => Format { ignored: 13, ..format(8, 10, Specials::Ieee) },
            "bf16" => format(8, 7, Specials::Ieee),
            "f16" => format(5, 10, Specials::Ieee),
            "e5m2" | "bf8" => format(5, 2, Specials::Ieee),
            "e4m3" | "fp8" => format(4, 3, Specials::AllOnes),
            "bf8_fnuz" => format(5, 2, Specials::NegativeZero),
            "fp8_fnuz" => format(4, 3, Specials::NegativeZero),
            "e2m1" | "fp4" => format(2, 1, Specials::None),
            "s64" | "i64" => return integer(64, true),
            "s32" | "i32" => return integer(32, true),
            "s16" | "i16" => return integer(16, true),
            "s8" | "i8" | "iu8" => return integer(8, true),
            "s4" | "iu4" => return integer(4, true),
            "s2" => return integer(2, true),
            "u64" => return integer(64, false),
            "u32" => return integer(32, false),
            "u16" => return integer(16, false),
            "u8" => return integer(8, false),
            "u4" => return integer(4, false),
            "u2" => return integer(2, false),
            _ => return None,
        }))
    }

    /// Bits that an element takes, those that are not read among them.
    #[must_use]
    pub fn bits(self) -> u32 {
        match self {
            Self::Integer { bits, .. } => bits,
            Self::Float(format) => 1 + format.exponent + format.mantissa + format.ignored,
        }
    }

    /// Whether every value of this type, infinities and NaN included, is one of `other`.
    #[must_use]
    pub fn is_exact_in(self, other: Self) -> bool {
        match (self, other) {
            (Self::Integer { bits, signed }, Self::Integer { bits: wide, signed: to_signed }) => {
                match (signed, to_signed) {
                    (true, false) => false,
                    (false, true) => bits < wide,
                    _ => bits <= wide,
                }
            }
            (Self::Integer { bits, signed }, Self::Float(to)) => {
                // The least of those with sign is a power of two; the others have one bit less.
                let digits = if signed { bits - 1 } else { bits };
                digits <= to.mantissa + 1 && (bits as i32) - 1 <= to.greatest_exponent()
            }
            (Self::Float(_), Self::Integer { .. }) => false,
            (Self::Float(from), Self::Float(to)) => {
                from == to
                    || to.specials == Specials::Ieee
                        && from.mantissa <= to.mantissa
                        && from.greatest_exponent() <= to.greatest_exponent()
                        && from.least_exponent() >= to.least_exponent()
            }
        }
    }

    /// Whether this is floating point.
    #[must_use]
    pub fn is_float(self) -> bool {
        matches!(self, Self::Float(_))
    }
}

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let format = match self {
            Self::Integer { bits, signed } => return write!(f, "{}{bits}", if *signed { 's' } else { 'u' }),
            Self::Float(format) => format,
        };
        f.write_str(match (format.exponent, format.mantissa, format.specials) {
            (11, ..) => "f64",
            (8, 23, _) => "f32",
            (8, 10, _) => "tf32",
            (8, ..) => "bf16",
            (5, 10, _) => "f16",
            (5, _, Specials::NegativeZero) => "bf8_fnuz",
            (5, ..) => "e5m2",
            (4, _, Specials::NegativeZero) => "fp8_fnuz",
            (4, ..) => "e4m3",
            _ => "e2m1",
        })
    }
}

impl Format {
    /// Bits of the exponent, of the mantissa, and below the number.
    #[must_use]
    pub fn widths(self) -> [u32; 3] {
        [self.exponent, self.mantissa, self.ignored]
    }

    /// What is subtracted from an exponent's bits.
    #[must_use]
    pub fn bias(self) -> i32 {
        self.bias
    }

    /// The encodings that are NaN, where each differs from the others in its sign at most: the bits, and those of
    /// them that are looked at. `None` where there is none, or NaN has payloads.
    #[must_use]
    pub fn only_nan(self) -> Option<(u64, u64)> {
        let magnitude = (1u64 << (self.exponent + self.mantissa)) - 1;
        match self.specials {
            Specials::AllOnes => Some((magnitude, magnitude)),
            Specials::NegativeZero => Some((magnitude + 1, 2 * magnitude + 1)),
            Specials::Ieee | Specials::None => None,
        }
    }

    /// Whether the highest exponent stands for infinity and NaN.
    #[must_use]
    pub fn has_infinity(self) -> bool {
        self.specials == Specials::Ieee
    }

    /// The least value above zero that is not subnormal.
    #[must_use]
    pub fn least_normal(self) -> f64 {
        power(1 - self.bias)
    }

    /// Log2 of the greatest power of two.
    fn greatest_exponent(self) -> i32 {
        let reserved = i32::from(self.specials == Specials::Ieee);
        (1 << self.exponent) - 1 - reserved - self.bias
    }

    /// Log2 of the least value above zero, a subnormal one.
    fn least_exponent(self) -> i32 {
        1 - self.bias - self.mantissa as i32
    }

    /// The value of an element; exact, since binary64 has all values of all these formats.
    #[must_use]
    pub fn decode(self, bits: u64) -> f64 {
        if self.exponent == 11 {
            return f64::from_bits(bits);
        }
        let bits = bits >> self.ignored;
        let magnitude = bits & ((1 << (self.exponent + self.mantissa)) - 1);
        let negative = bits >> (self.exponent + self.mantissa) & 1 == 1;
        let (exponent, mantissa) = (magnitude >> self.mantissa, magnitude & ((1 << self.mantissa) - 1));
        let top = exponent == (1 << self.exponent) - 1;
        let nan = match self.specials {
            Specials::Ieee => top && mantissa != 0,
            Specials::AllOnes => top && mantissa == (1 << self.mantissa) - 1,
            Specials::NegativeZero => negative && magnitude == 0,
            Specials::None => false,
        };
        if nan {
            return f64::NAN;
        }
        let value = if top && self.specials == Specials::Ieee {
            f64::INFINITY
        } else if exponent == 0 {
            mantissa as f64 * power(1 - self.bias - self.mantissa as i32)
        } else {
            (mantissa + (1 << self.mantissa)) as f64 * power(exponent as i32 - self.bias - self.mantissa as i32)
        };
        if negative { -value } else { value }
    }
}

/// Two to an exponent within binary64's normal range.
fn power(exponent: i32) -> f64 {
    f64::from_bits(((exponent + 1023) as u64) << 52)
}

#[cfg(test)]
mod tests {
    use half::{bf16, f16};

    use super::*;

    fn decoded(name: &str, bits: u64) -> f64 {
        match Number::named(name) {
            Some(Number::Float(format)) => format.decode(bits),
            other => panic!("{name}: {other:?}"),
        }
    }

    #[test]
    fn sixteen_bit_formats_are_those_of_the_half_crate() {
        for bits in 0..=u16::MAX {
            let (half, brain) = (f16::from_bits(bits).to_f64(), bf16::from_bits(bits).to_f64());
            let same = |a: f64, b: f64| a.to_bits() == b.to_bits() || a.is_nan() && b.is_nan();
            assert!(same(decoded("f16", bits.into()), half), "{bits:#x}");
            assert!(same(decoded("bf16", bits.into()), brain), "{bits:#x}");
        }
    }

    #[test]
    fn eight_and_four_bit_formats_have_their_published_values() {
        // OCP OFP8, table 2: greatest, least normal and least subnormal value, special values.
        for (name, bits, value) in [
            ("e4m3", 0x7e, 448.0),
            ("e4m3", 0x08, 0.015_625),
            ("e4m3", 0x01, 0.001_953_125),
            ("e5m2", 0x7b, 57_344.0),
            ("e5m2", 0x04, 0.000_061_035_156_25),
            ("e5m2", 0x01, 0.000_015_258_789_062_5),
            ("e5m2", 0xfc, f64::NEG_INFINITY),
            ("fp8_fnuz", 0x7f, 240.0),
            ("fp8_fnuz", 0x01, 0.000_976_562_5),
            ("bf8_fnuz", 0x7f, 57_344.0),
            ("bf8_fnuz", 0x01, 0.000_007_629_394_531_25),
        ] {
            assert_eq!(decoded(name, bits), value, "{name} {bits:#x}");
        }
        for (name, bits) in [("e4m3", 0x7f), ("e4m3", 0xff), ("e5m2", 0x7d), ("fp8_fnuz", 0x80), ("bf8_fnuz", 0x80)] {
            assert!(decoded(name, bits).is_nan(), "{name} {bits:#x}");
        }
        let fp4: Vec<f64> = (0..8).map(|bits| decoded("fp4", bits)).collect();
        assert_eq!(fp4, [0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0]);
        assert_eq!(decoded("fp4", 0xb), -1.5);
    }

    #[test]
    fn the_low_bits_of_tf32_are_not_read() {
        assert_eq!(decoded("tf32", u64::from(1.5f32.to_bits() | 0x1fff)), 1.5);
        assert_eq!(decoded("tf32", u64::from((-3.0f32).to_bits())), -3.0);
    }
}
