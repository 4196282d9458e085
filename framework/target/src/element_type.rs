//! Element types of tensors and matrix operands, with the names that vendors use for them.

use std::fmt;

use super::format::FloatFormat;

/// An element type: the interpretation of an element's bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ElementType {
    /// An integer type, in two's complement if signed.
    Integer {
        /// Width of the integer in bits.
        bits: u32,
        /// Whether the highest bit is a sign bit.
        signed: bool,
    },
    /// A floating-point type.
    Float(FloatFormat),
}

const fn signed(bits: u32) -> ElementType {
    ElementType::Integer { bits, signed: true }
}

const fn unsigned(bits: u32) -> ElementType {
    ElementType::Integer { bits, signed: false }
}

/// All named types with their names; the first name of each is printed, the others are accepted as input.
const NAMES: &[(ElementType, &[&str])] = &[
    (ElementType::Float(FloatFormat::F64), &["f64"]),
    (ElementType::Float(FloatFormat::F32), &["f32"]),
    (ElementType::Float(FloatFormat::TF32), &["tf32", "xf32"]),
    (ElementType::Float(FloatFormat::BF16), &["bf16"]),
    (ElementType::Float(FloatFormat::F16), &["f16"]),
    (ElementType::Float(FloatFormat::E5M2), &["e5m2", "bf8"]),
    (ElementType::Float(FloatFormat::E4M3), &["e4m3", "fp8"]),
    (ElementType::Float(FloatFormat::E5M2_FNUZ), &["bf8_fnuz"]),
    (ElementType::Float(FloatFormat::E4M3_FNUZ), &["fp8_fnuz"]),
    (ElementType::Float(FloatFormat::E2M1), &["e2m1", "fp4"]),
    (ElementType::Float(FloatFormat::E2M3), &["e2m3", "fp6"]),
    (ElementType::Float(FloatFormat::E3M2), &["e3m2", "bf6"]),
    (ElementType::Float(FloatFormat::E8M0), &["e8m0", "ue8m0"]),
    (ElementType::Float(FloatFormat::UE4M3), &["ue4m3"]),
    (signed(64), &["s64", "i64"]),
    (signed(32), &["s32", "i32"]),
    (signed(16), &["s16", "i16"]),
    (signed(8), &["s8", "i8", "iu8"]),
    (signed(4), &["s4", "iu4"]),
    (signed(2), &["s2"]),
    (unsigned(64), &["u64"]),
    (unsigned(32), &["u32"]),
    (unsigned(16), &["u16"]),
    (unsigned(8), &["u8"]),
    (unsigned(4), &["u4"]),
    (unsigned(2), &["u2"]),
    (unsigned(1), &["u1", "b1"]),
];

impl ElementType {
    /// Finds the type that has `name` among its names; `None` if no type has it.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        NAMES.iter().find(|(_, names)| names.contains(&name)).map(|&(element_type, _)| element_type)
    }

    /// Returns the name by which the type is printed; `None` for integers of widths that no vendor names.
    #[must_use]
    pub fn name(self) -> Option<&'static str> {
        NAMES.iter().find(|&&(element_type, _)| element_type == self).map(|(_, names)| names[0])
    }

    /// Returns the width of an element in bits, including ignored bits (such as the low 13 bits of `tf32`).
    #[must_use]
    pub fn bits(self) -> u32 {
        match self {
            Self::Integer { bits, .. } => bits,
            Self::Float(format) => format.bits(),
        }
    }

    /// Returns the number of bits that an element takes in memory: its width, rounded up to a power of two. A six-bit
    /// element takes the low bits of a byte; elements of 1, 2 and 4 bits are packed in bytes, the first in the low
    /// bits.
    #[must_use]
    pub fn stored_bits(self) -> u32 {
        self.bits().next_power_of_two()
    }

    /// Whether every value of this type, including infinities and NaN, is a value of `other`.
    #[must_use]
    pub fn is_representable_in(self, other: Self) -> bool {
        match (self, other) {
            (Self::Integer { bits, signed }, Self::Integer { bits: wide, signed: to_signed }) => {
                match (signed, to_signed) {
                    (true, false) => false,
                    (false, true) => bits < wide,
                    _ => bits <= wide,
                }
            }
            (Self::Integer { bits, signed }, Self::Float(to)) => {
                // The least signed integer is a power of two; the others have one bit less.
                let digits = if signed { bits - 1 } else { bits };
                digits <= to.field_widths()[1] + 1 && (bits as i32) - 1 <= to.max_exponent()
            }
            (Self::Float(_), Self::Integer { .. }) => false,
            (Self::Float(from), Self::Float(to)) => from.is_exact_in(to),
        }
    }

    /// Whether this is a floating-point type.
    #[must_use]
    pub fn is_float(self) -> bool {
        matches!(self, Self::Float(_))
    }
}

impl fmt::Display for ElementType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Integer { bits, signed } => write!(f, "{}{bits}", if *signed { 's' } else { 'u' }),
            Self::Float(_) => f.write_str(self.name().unwrap_or_default()),
        }
    }
}
