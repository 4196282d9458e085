//! Element types and element values of test buffers, including the signedness of integers.

use std::fmt;

use thiserror::Error;
use tilewright_target::RoundingMode;
use tilewright_tile::FloatType;

/// The element type of a test buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CaseElement {
    /// A byte; any value but zero is true.
    Boolean,
    /// A signed integer of this width.
    Signed(u32),
    /// An unsigned integer of this width.
    Unsigned(u32),
    /// A floating-point type.
    Float(FloatType),
}

/// The value of one element.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum CaseElementValue {
    /// The value of an integer or boolean element.
    Integer(i128),
    /// The value of a floating-point element.
    Float(f64),
}

/// The reason why a name names no element type, or why a type has no such value; an error of the case's author.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum InvalidCaseElementError {
    /// No element type has this name.
    #[error("`{name}` is not an element; expected one of {}", NAMES.map(|(known, _)| known).join(", "))]
    Unknown {
        /// The name that was given.
        name: String,
    },
    /// An integer that is out of range.
    #[error("{value} does not fit into {width} bits")]
    Range {
        /// The integer that was given.
        value: i128,
        /// Width of the element type in bits.
        width: usize,
    },
    /// A floating-point value for an element type of integers.
    #[error("{value:?} is not an integer")]
    NotAnInteger {
        /// The floating-point value that was given.
        value: f64,
    },
    /// A value that the floating-point type cannot represent.
    #[error("`{float}` has no {value:?}")]
    NoFloat {
        /// The floating-point element type, which cannot represent the value.
        float: FloatType,
        /// The value that was given.
        value: f64,
    },
}

/// Names of element types in case files. If a type has several names, messages use the last one.
const NAMES: [(&str, CaseElement); 18] = [
    ("i1", CaseElement::Boolean),
    ("u1", CaseElement::Boolean),
    ("bool", CaseElement::Boolean),
    ("i8", CaseElement::Signed(8)),
    ("i16", CaseElement::Signed(16)),
    ("i32", CaseElement::Signed(32)),
    ("i64", CaseElement::Signed(64)),
    ("u8", CaseElement::Unsigned(8)),
    ("u16", CaseElement::Unsigned(16)),
    ("u32", CaseElement::Unsigned(32)),
    ("u64", CaseElement::Unsigned(64)),
    ("f16", CaseElement::Float(FloatType::F16)),
    ("bf16", CaseElement::Float(FloatType::Bf16)),
    ("f32", CaseElement::Float(FloatType::F32)),
    ("f64", CaseElement::Float(FloatType::F64)),
    ("f8e4m3", CaseElement::Float(FloatType::F8E4M3Fn)),
    ("f8e5m2", CaseElement::Float(FloatType::F8E5M2)),
    ("f8e8m0", CaseElement::Float(FloatType::F8E8M0Fnu)),
];

impl CaseElement {
    /// Parses the name of an element type.
    ///
    /// # Errors
    /// [`InvalidCaseElementError::Unknown`] if no element type has this name.
    pub fn from_name(name: &str) -> Result<Self, InvalidCaseElementError> {
        let found = NAMES.iter().find(|(known, _)| *known == name).map(|(_, element)| *element);
        found.ok_or_else(|| InvalidCaseElementError::Unknown { name: name.to_owned() })
    }

    /// Returns the name of the element type, as case files and messages state it; `None` if it has no name.
    #[must_use]
    pub fn name(self) -> Option<&'static str> {
        NAMES.iter().rev().find(|(_, known)| *known == self).map(|(name, _)| *name)
    }

    /// Returns the element type for a scalar type of a tile program, given as text such as `f16`; integers are signed.
    /// `None` for other types.
    #[must_use]
    pub fn from_tile_type(ty: &str) -> Option<Self> {
        let integer = |bits| if bits == 1 { Self::Boolean } else { Self::Signed(bits) };
        let width = ty.strip_prefix('i').and_then(|bits| bits.parse().ok());
        width
            .filter(|bits| [1, 8, 16, 32, 64].contains(bits))
            .map(integer)
            .or(FloatType::from_name(ty).map(Self::Float))
    }

    /// Returns the number of bytes of an element in memory.
    #[must_use]
    pub fn bytes(self) -> usize {
        match self {
            Self::Boolean => 1,
            Self::Signed(bits) | Self::Unsigned(bits) => bits as usize / 8,
            Self::Float(float) => float.bits() as usize / 8,
        }
    }

    /// Decodes the little-endian bytes of one element.
    #[must_use]
    pub fn decode(self, bytes: &[u8]) -> CaseElementValue {
        let bits = bytes.iter().rev().fold(0u64, |packed, &byte| packed << 8 | u64::from(byte));
        match self {
            Self::Boolean => CaseElementValue::Integer(i128::from(bits != 0)),
            Self::Signed(width) => CaseElementValue::Integer(i128::from((bits << (64 - width)) as i64 >> (64 - width))),
            Self::Unsigned(_) => CaseElementValue::Integer(i128::from(bits)),
            Self::Float(float) => CaseElementValue::Float(float.decode(bits)),
        }
    }

    /// Encodes a value as an element. Integers may range from the minimum signed to the maximum unsigned value of the
    /// width; floating-point values are rounded to nearest.
    ///
    /// # Errors
    /// [`InvalidCaseElementError`] if the element type cannot represent the value.
    pub fn encode(self, value: CaseElementValue) -> Result<u64, InvalidCaseElementError> {
        let width = self.bytes() * 8;
        match (self, value) {
            (Self::Boolean, CaseElementValue::Integer(value)) => Ok(u64::from(value != 0)),
            (Self::Signed(_) | Self::Unsigned(_), CaseElementValue::Integer(value)) => {
                let fits = (-1i128 << (width - 1)..1i128 << width).contains(&value);
                let bits = value as u64 & (u64::MAX >> (64 - width));
                fits.then_some(bits).ok_or(InvalidCaseElementError::Range { value, width })
            }
            (Self::Float(float), CaseElementValue::Integer(value)) => encode_float(float, value as f64),
            (Self::Float(float), CaseElementValue::Float(value)) => encode_float(float, value),
            (_, CaseElementValue::Float(value)) => Err(InvalidCaseElementError::NotAnInteger { value }),
        }
    }
}

fn encode_float(float: FloatType, value: f64) -> Result<u64, InvalidCaseElementError> {
    let bits =
        if value.is_finite() { float.encode(value) } else { float.format().round(value, RoundingMode::NearestEven) };
    bits.ok_or(InvalidCaseElementError::NoFloat { float, value })
}

impl fmt::Display for CaseElementValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Integer(value) => write!(f, "{value}"),
            Self::Float(value) => write!(f, "{value:?}"),
        }
    }
}
