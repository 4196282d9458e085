//! Element types of tensors and matrix operands by the names that vendors write, and what their bits mean.
//!
//! Sources: IEEE 754; OCP 8-bit Floating Point Specification (`e4m3`, `e5m2`) and OCP Microscaling
//! Formats (`fp4`, `e2m3`, `e3m2`, and the scales `e8m0`); NVIDIA's PTX ISA for the scales `ue4m3`; for the `fnuz` variants Noune et al., "8-bit Numerical Formats for Deep Neural
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

/// A binary floating-point format: a sign bit where it has one, exponent bits, mantissa bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Format {
    signed: bool,
    exponent: u32,
    mantissa: u32,
    bias: i32,
    specials: Specials,
    /// Low bits of the element that are not read.
    ignored: u32,
    /// High bits of the element that are not read.
    unused: u32,
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
    Format { signed: true, exponent, mantissa, bias, specials, ignored: 0, unused: 0 }
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
            "e2m3" | "fp6" => format(2, 3, Specials::None),
            "e3m2" | "bf6" => format(3, 2, Specials::None),
            "e8m0" | "ue8m0" => Format { signed: false, ..format(8, 0, Specials::AllOnes) },
            "ue4m3" => Format { signed: false, unused: 1, ..format(4, 3, Specials::AllOnes) },
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
            "u1" | "b1" => return integer(1, false),
            _ => return None,
        }))
    }

    /// Bits that an element takes, those that are not read among them.
    #[must_use]
    pub fn bits(self) -> u32 {
        match self {
            Self::Integer { bits, .. } => bits,
            Self::Float(format) => {
                u32::from(format.signed) + format.exponent + format.mantissa + format.ignored + format.unused
            }
        }
    }

    /// Bits that an element takes in memory: where its width is no power of two, as of the types of six bits, those
    /// of a byte, of which it has the low ones. Elements of fewer than eight bits lie side by side in bytes, the first
    /// in the low bits.
    #[must_use]
    pub fn stored_bits(self) -> u32 {
        self.bits().next_power_of_two()
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
                    || from.specials_are_in(to)
                        && (to.signed || !from.signed)
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
            (8, 0, _) => "e8m0",
            (4, ..) if !format.signed => "ue4m3",
            (11, ..) => "f64",
            (8, 23, _) => "f32",
            (8, 10, _) => "tf32",
            (8, ..) => "bf16",
            (5, 10, _) => "f16",
            (5, _, Specials::NegativeZero) => "bf8_fnuz",
            (5, ..) => "e5m2",
            (4, _, Specials::NegativeZero) => "fp8_fnuz",
            (4, ..) => "e4m3",
            (3, ..) => "e3m2",
            (2, 3, _) => "e2m3",
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

    /// Whether there are negative numbers.
    #[must_use]
    pub fn is_signed(self) -> bool {
        self.signed
    }

    /// The bits of the number one.
    #[must_use]
    pub fn one(self) -> u64 {
        (self.bias as u64) << (self.mantissa + self.ignored)
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

    /// The bits of the greatest number.
    #[must_use]
    pub fn greatest(self) -> u64 {
        let magnitude = (1u64 << (self.exponent + self.mantissa)) - 1;
        let bits = match self.specials {
            Specials::Ieee => magnitude - (1 << self.mantissa),
            Specials::AllOnes => magnitude - 1,
            Specials::NegativeZero | Specials::None => magnitude,
        };
        bits << self.ignored
    }

    /// The bits of a NaN, where there is one: all ones, or the negative zero's.
    #[must_use]
    pub fn nan(self) -> Option<u64> {
        let magnitude = (1u64 << (self.exponent + self.mantissa)) - 1;
        match self.specials {
            Specials::Ieee | Specials::AllOnes => Some(magnitude << self.ignored),
            Specials::NegativeZero => Some((magnitude + 1) << self.ignored),
            Specials::None => None,
        }
    }

    /// The least value above zero that is not subnormal.
    #[must_use]
    pub fn least_normal(self) -> f64 {
        power(1 - self.bias)
    }

    /// Whether infinities, NaN and the negative zero of this type are in another, and nothing else of the other stands
    /// where its numbers may be.
    fn specials_are_in(self, to: Self) -> bool {
        match to.specials {
            Specials::Ieee => true,
            Specials::None => self.specials == Specials::None,
            // The greatest power of two has fewer numbers there.
            Specials::AllOnes => !self.has_infinity() && self.greatest_exponent() < to.greatest_exponent(),
            // There is no negative zero.
            Specials::NegativeZero => false,
        }
    }

    /// Log2 of the greatest power of two.
    #[must_use]
    pub fn greatest_exponent(self) -> i32 {
        let reserved = match self.specials {
            Specials::Ieee => 1,
            // Without a mantissa NaN takes the whole exponent.
            Specials::AllOnes => i32::from(self.mantissa == 0),
            Specials::NegativeZero | Specials::None => 0,
        };
        (1 << self.exponent) - 1 - reserved - self.bias
    }

    /// Log2 of the least value above zero: a subnormal one where there is a mantissa.
    #[must_use]
    pub fn least_exponent(self) -> i32 {
        if self.mantissa == 0 { -self.bias } else { 1 - self.bias - self.mantissa as i32 }
    }

    /// The value of an element; exact, since binary64 has all values of all these formats.
    #[must_use]
    pub fn decode(self, bits: u64) -> f64 {
        if self.exponent == 11 {
            return f64::from_bits(bits);
        }
        let bits = bits >> self.ignored;
        let magnitude = bits & ((1 << (self.exponent + self.mantissa)) - 1);
        let negative = self.signed && bits >> (self.exponent + self.mantissa) & 1 == 1;
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
        } else if exponent == 0 && self.mantissa > 0 {
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
    fn formats_of_microscaling_have_their_published_values() {
        // OCP Microscaling Formats 1.0, tables 1 and 2, section 5.4: bias, greatest and least values; no infinity, no
        // NaN but that of e8m0.
        for (name, bits, value) in [
            ("e2m3", 0x1f, 7.5),
            ("e2m3", 0x08, 1.0),
            ("e2m3", 0x07, 0.875),
            ("e2m3", 0x01, 0.125),
            ("e2m3", 0x3f, -7.5),
            ("e3m2", 0x1f, 28.0),
            ("e3m2", 0x04, 0.25),
            ("e3m2", 0x03, 0.1875),
            ("e3m2", 0x01, 0.0625),
            ("e3m2", 0x21, -0.0625),
            ("e8m0", 0x7f, 1.0),
            ("e8m0", 0x00, 2f64.powi(-127)),
            ("e8m0", 0x01, 2f64.powi(-126)),
            ("e8m0", 0xfe, 2f64.powi(127)),
            ("ue4m3", 0x7e, 448.0),
            ("ue4m3", 0x01, 0.001_953_125),
            ("ue4m3", 0xb8, 1.0),
        ] {
            assert_eq!(decoded(name, bits), value, "{name} {bits:#x}");
        }
        assert!(decoded("e8m0", 0xff).is_nan() && decoded("ue4m3", 0x7f).is_nan());
        for (name, bits, stored) in [
            ("e2m1", 4, 4),
            ("e2m3", 6, 8),
            ("e3m2", 6, 8),
            ("e8m0", 8, 8),
            ("ue4m3", 8, 8),
            ("tf32", 32, 32),
            ("u1", 1, 1),
        ] {
            let number = Number::named(name).expect("a type");
            assert_eq!((number.bits(), number.stored_bits()), (bits, stored), "{name}");
            assert_eq!(Number::named(&number.to_string()), Some(number));
        }
        for name in ["e8m0", "ue4m3", "e4m3", "f16", "tf32", "e2m1"] {
            let Some(Number::Float(format)) = Number::named(name) else { panic!("{name}") };
            assert_eq!(format.decode(format.one()), 1.0, "{name}");
        }
    }

    /// Every type of at most eight bits, and three wider ones.
    const NARROW: [&str; 12] =
        ["e2m1", "e2m3", "e3m2", "e4m3", "e5m2", "fp8_fnuz", "bf8_fnuz", "e8m0", "ue4m3", "f16", "bf16", "f32"];

    #[test]
    fn a_type_is_exact_in_another_where_that_has_all_its_values() {
        let values = |name: &str| -> Vec<u64> {
            let bits = Number::named(name).expect("a type").bits().min(16);
            (0..1u64 << bits).map(|element| decoded(name, element).to_bits()).collect()
        };
        let is_nan = |bits: u64| f64::from_bits(bits).is_nan();
        for to in NARROW.into_iter().filter(|&to| to != "f32") {
            let known: std::collections::BTreeSet<u64> = values(to).into_iter().collect();
            let has_nan = known.iter().any(|&bits| is_nan(bits));
            for from in NARROW.into_iter().filter(|&from| from != "f32") {
                let all =
                    values(from).into_iter().all(|bits| if is_nan(bits) { has_nan } else { known.contains(&bits) });
                let said = Number::named(from).zip(Number::named(to)).is_some_and(|(from, to)| from.is_exact_in(to));
                // A type that shares the greatest exponent with one whose NaN lies there is left out.
                assert!(!said || all, "{from} in {to}");
                let top = to == "e4m3" && from == "ue4m3" || to == "ue4m3" && from == "e8m0";
                assert!(said || !all || top, "{from} in {to} is not said");
            }
            assert!(Number::named(to).zip(Number::named("f32")).is_some_and(|(to, wide)| to.is_exact_in(wide)), "{to}");
        }
    }

    #[test]
    fn the_low_bits_of_tf32_are_not_read() {
        assert_eq!(decoded("tf32", u64::from(1.5f32.to_bits() | 0x1fff)), 1.5);
        assert_eq!(decoded("tf32", u64::from((-3.0f32).to_bits())), -3.0);
    }
}
