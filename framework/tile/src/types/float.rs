//! Floating-point element types, by their names in programs, and conversions of numbers to bits.

use std::fmt;

use tilewright_target::{FloatFormat, RoundingMode, named_enum};

named_enum! {
    /// A floating-point element type.
    pub enum FloatType as array {
        /// IEEE binary16.
        F16 = "f16",
        /// Bfloat16: the upper half of a binary32.
        Bf16 = "bf16",
        /// NVIDIA TF32: the upper 19 bits of a binary32.
        Tf32 = "tf32",
        /// IEEE binary32.
        F32 = "f32",
        /// IEEE binary64.
        F64 = "f64",
        /// OCP E4M3: no infinity, one NaN of each sign.
        F8E4M3Fn = "f8E4M3FN",
        /// OCP E5M2.
        F8E5M2 = "f8E5M2",
        /// E4M3 without infinities and negative zero; the encoding of negative zero is the NaN.
        F8E4M3Fnuz = "f8E4M3FNUZ",
        /// E5M2 without infinities and negative zero; the encoding of negative zero is the NaN.
        F8E5M2Fnuz = "f8E5M2FNUZ",
        /// OCP E8M0: powers of two, the type of scales.
        F8E8M0Fnu = "f8E8M0FNU",
        /// OCP E2M3, six bits.
        F6E2M3Fn = "f6E2M3FN",
        /// OCP E3M2, six bits.
        F6E3M2Fn = "f6E3M2FN",
        /// OCP E2M1, four bits.
        F4E2M1Fn = "f4E2M1FN",
    }
}

impl FloatType {
    /// Returns the bit format of the type: widths of its fields, and its special values.
    #[must_use]
    pub fn format(self) -> FloatFormat {
        match self {
            Self::F16 => FloatFormat::F16,
            Self::Bf16 => FloatFormat::BF16,
            Self::Tf32 => FloatFormat::TF32,
            Self::F32 => FloatFormat::F32,
            Self::F64 => FloatFormat::F64,
            Self::F8E4M3Fn => FloatFormat::E4M3,
            Self::F8E5M2 => FloatFormat::E5M2,
            Self::F8E4M3Fnuz => FloatFormat::E4M3_FNUZ,
            Self::F8E5M2Fnuz => FloatFormat::E5M2_FNUZ,
            Self::F8E8M0Fnu => FloatFormat::E8M0,
            Self::F6E2M3Fn => FloatFormat::E2M3,
            Self::F6E3M2Fn => FloatFormat::E3M2,
            Self::F4E2M1Fn => FloatFormat::E2M1,
        }
    }

    /// Number of bits of an element in memory; for `tf32` 32, as for the binary32 that contains it.
    #[must_use]
    pub fn bits(self) -> u32 {
        self.format().bits()
    }

    /// Returns the number that these bits encode in the type; it is exact.
    #[must_use]
    pub fn decode(self, bits: u64) -> f64 {
        self.format().decode(bits)
    }

    /// Rounds `value` to this type, to nearest even. `None` if it overflows, if it is negative and the type is
    /// unsigned, or if it is not finite.
    #[must_use]
    pub fn encode(self, value: f64) -> Option<u64> {
        let rounded = value.is_finite().then(|| self.format().round(value, RoundingMode::NearestEven)).flatten();
        rounded.filter(|&bits| self.decode(bits).is_finite())
    }

    /// Rounds `value` as MLIR rounds the number of a constant: overflow gives an infinity, or a NaN if the type has no
    /// infinity. `None` if the type has neither, and for a negative number of an unsigned type.
    #[must_use]
    pub fn round_constant(self, value: f64) -> Option<u64> {
        let format = self.format();
        let beyond = || {
            let infinity = format.has_infinity().then(|| format.encode_max_finite() + (1 << format.field_widths()[2]));
            let bits = infinity.or_else(|| format.encode_nan())?;
            match (value < 0.0, format.is_signed()) {
                (true, true) => Some(bits | 1 << (format.bits() - 1)),
                (negative, _) => (!negative).then_some(bits),
            }
        };
        self.encode(value).or_else(beyond)
    }

    /// Returns the bits of a quiet NaN; `None` if the type has no NaN.
    #[must_use]
    pub fn encode_nan(self) -> Option<u64> {
        self.format().encode_quiet_nan()
    }
}

impl fmt::Display for FloatType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {

    use super::*;
    use tilewright_target::ElementType;

    #[test]
    fn every_type_has_its_names_and_its_format() {
        for float in FloatType::ALL {
            assert_eq!(FloatType::from_name(float.name()), Some(float));
            let number = ElementType::Float(float.format());
            assert_eq!(number.name().and_then(ElementType::from_name), Some(number), "{float}");
        }
    }

    #[test]
    fn every_number_is_its_own_nearest() {
        for float in FloatType::ALL.into_iter().filter(|float| float.bits() <= 16) {
            for bits in 0..1u64 << float.bits() {
                let value = float.decode(bits);
                if value.is_finite() {
                    assert_eq!(float.encode(value), Some(bits), "{float} {bits:#x}");
                }
            }
        }
    }

    #[test]
    fn numbers_beyond_the_greatest_have_no_bits() {
        assert_eq!(FloatType::F16.encode(65_519.0), Some(0x7bff));
        assert_eq!(FloatType::F16.encode(65_520.0), None);
        assert_eq!(FloatType::F8E4M3Fn.encode(464.0), Some(0x7e), "a tie with what would be 480 goes to even");
        assert_eq!(FloatType::F8E4M3Fn.encode(465.0), None);
        assert_eq!(FloatType::F8E8M0Fnu.encode(-1.0), None);
        // The bits that MLIR prints for these constants.
        for (float, value, bits) in [
            (FloatType::F64, f64::INFINITY, Some(0x7ff0_0000_0000_0000)),
            (FloatType::F32, 1.0e39, Some(0x7f80_0000)),
            (FloatType::F16, 65_520.0, Some(0x7c00)),
            (FloatType::F16, -1.0e10, Some(0xfc00)),
            (FloatType::F8E4M3Fn, 1000.0, Some(0x7f)),
            (FloatType::F8E4M3Fn, -1000.0, Some(0xff)),
            (FloatType::F8E4M3Fn, 448.0, Some(0x7e)),
            (FloatType::F8E8M0Fnu, -1.0, None),
        ] {
            assert_eq!(float.round_constant(value), bits, "{float} {value}");
        }
    }
}
