//! Element types of matrix operands by the names that vendors write, and what their bits mean.
//!
//! Sources: IEEE 754; OCP 8-bit Floating Point Specification (`e4m3`, `e5m2`) and OCP Microscaling
//! Formats (`fp4`); for the `fnuz` variants Noune et al., "8-bit Numerical Formats for Deep Neural
//! Networks", as documented with ROCm; for `tf32` NVIDIA's PTX ISA: the upper 19 bits of binary32.

use half::{bf16, f16};

/// How an element's bits are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Number {
    /// Two's complement, or without sign, of so many bits.
    Integer { bits: u32, signed: bool },
    /// Floating point.
    Float(Format),
}

/// A binary floating-point format: a sign bit, exponent bits, mantissa bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Format {
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
    pub(super) fn named(name: &str) -> Option<Self> {
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
            "s32" | "i32" => return integer(32, true),
            "s8" | "i8" | "iu8" => return integer(8, true),
            "s4" | "iu4" => return integer(4, true),
            "s2" => return integer(2, true),
            "u8" => return integer(8, false),
            "u4" => return integer(4, false),
            "u2" => return integer(2, false),
            _ => return None,
        }))
    }

    /// Bits that an element takes, those that are not read among them.
    pub(super) fn bits(self) -> u32 {
        match self {
            Self::Integer { bits, .. } => bits,
            Self::Float(format) => 1 + format.exponent + format.mantissa + format.ignored,
        }
    }
}

impl Format {
    /// The value of an element; exact, since binary64 has all values of all these formats.
    pub(super) fn decode(self, bits: u64) -> f64 {
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

    /// `sum + a * b`, rounded once, to nearest even. All three are exact values of their types, and
    /// those of the factors are no wider than this one, but that `f16` and `bf16` take each other.
    pub(super) fn multiply_add(self, sum: f64, a: f64, b: f64) -> f64 {
        match self {
            Self::F64 => a.mul_add(b, sum),
            Self::F32 => f64::from((a as f32).mul_add(b as f32, sum as f32)),
            // The product of two elements of at most 11 bits is exact.
            Self::F16 | Self::Bf16 => self.round(odd_sum(a * b, sum)),
        }
    }

    /// A value of this type, from one that is exact or was rounded to odd.
    fn round(self, value: f64) -> f64 {
        match self {
            Self::F64 => value,
            Self::F32 => f64::from(value as f32),
            Self::F16 => f16::from_f32(odd_single(value)).to_f64(),
            Self::Bf16 => bf16::from_f32(odd_single(value)).to_f64(),
        }
    }

    /// The bits of a value of this type; NaN is the positive quiet one without payload.
    pub(super) fn encode(self, value: f64) -> u64 {
        match self {
            Self::F16 => u64::from(if value.is_nan() { 0x7e00 } else { f16::from_f32(value as f32).to_bits() }),
            Self::Bf16 => u64::from(if value.is_nan() { 0x7fc0 } else { bf16::from_f32(value as f32).to_bits() }),
            Self::F32 => u64::from(if value.is_nan() { 0x7fc0_0000 } else { (value as f32).to_bits() }),
            Self::F64 => {
                if value.is_nan() {
                    0x7ff8_0000_0000_0000
                } else {
                    value.to_bits()
                }
            }
        }
    }
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

/// The same for going to binary32, which leaves room for at most 22 bits.
fn odd_single(value: f64) -> f32 {
    let single = value as f32;
    let back = f64::from(single);
    if value.is_nan() || back == value || single.to_bits() & 1 == 1 {
        return single;
    }
    let grows = back.abs() < value.abs();
    f32::from_bits(if grows { single.to_bits() + 1 } else { single.to_bits() - 1 })
}

#[cfg(test)]
mod tests {
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
