//! The elements of buffers, which have signs, and numbers of them.

use std::fmt;

use tilewright_target::RoundingMode;
use tilewright_tile::Float;

/// What the elements of a buffer are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CaseElement {
    /// A byte that is zero or not.
    Boolean,
    /// An integer of so many bits with a sign.
    Signed(u32),
    /// An integer of so many bits without a sign.
    Unsigned(u32),
    /// A floating-point number.
    Float(Float),
}

/// A number of a buffer.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum CaseNumber {
    /// An integer.
    Integer(i128),
    /// A floating-point number.
    Float(f64),
}

/// Names of elements.
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
    ("f16", CaseElement::Float(Float::F16)),
    ("bf16", CaseElement::Float(Float::Bf16)),
    ("f32", CaseElement::Float(Float::F32)),
    ("f64", CaseElement::Float(Float::F64)),
    ("f8e4m3", CaseElement::Float(Float::F8E4M3Fn)),
    ("f8e5m2", CaseElement::Float(Float::F8E5M2)),
    ("f8e8m0", CaseElement::Float(Float::F8E8M0Fnu)),
];

impl CaseElement {
    /// The element of a name; `Err` with all names where there is none.
    ///
    /// # Errors
    /// What was expected, in words.
    pub fn named(name: &str) -> Result<Self, String> {
        let found = NAMES.iter().find(|(known, _)| *known == name).map(|(_, element)| *element);
        found.ok_or_else(|| {
            let known: Vec<_> = NAMES.iter().map(|(name, _)| *name).collect();
            format!("`{name}` is no element; expected one of {}", known.join(", "))
        })
    }

    /// Its name, where it has one.
    #[must_use]
    pub fn name(self) -> Option<&'static str> {
        NAMES.iter().rev().find(|(_, known)| *known == self).map(|(name, _)| *name)
    }

    /// The element that a type of a program has, as far as a number is given for it: integers with a sign.
    #[must_use]
    pub fn of_program(ty: &str) -> Option<Self> {
        let integer = |bits| if bits == 1 { Self::Boolean } else { Self::Signed(bits) };
        let width = ty.strip_prefix('i').and_then(|bits| bits.parse().ok());
        width.filter(|bits| [1, 8, 16, 32, 64].contains(bits)).map(integer).or(Float::named(ty).map(Self::Float))
    }

    /// Bytes of an element in memory.
    #[must_use]
    pub fn bytes(self) -> usize {
        match self {
            Self::Boolean => 1,
            Self::Signed(bits) | Self::Unsigned(bits) => bits as usize / 8,
            Self::Float(float) => float.bits() as usize / 8,
        }
    }

    /// The number of little-endian bytes, which are as many as an element has.
    #[must_use]
    pub fn value(self, bytes: &[u8]) -> CaseNumber {
        let bits = bytes.iter().rev().fold(0u64, |word, &byte| word << 8 | u64::from(byte));
        match self {
            Self::Boolean => CaseNumber::Integer(i128::from(bits != 0)),
            Self::Signed(width) => CaseNumber::Integer(i128::from((bits << (64 - width)) as i64 >> (64 - width))),
            Self::Unsigned(_) => CaseNumber::Integer(i128::from(bits)),
            Self::Float(float) => CaseNumber::Float(float.decode(bits)),
        }
    }

    /// The bits of a number of this element. Integers may be from the least signed to the greatest unsigned of the
    /// width; floating-point numbers are rounded to nearest.
    ///
    /// # Errors
    /// Why the element has no such number, in words.
    pub fn encode(self, value: CaseNumber) -> Result<u64, String> {
        let width = self.bytes() * 8;
        match (self, value) {
            (Self::Boolean, CaseNumber::Integer(value)) => Ok(u64::from(value != 0)),
            (Self::Signed(_) | Self::Unsigned(_), CaseNumber::Integer(value)) => {
                let fits = (-1i128 << (width - 1)..1i128 << width).contains(&value);
                let bits = value as u64 & (u64::MAX >> (64 - width));
                fits.then_some(bits).ok_or_else(|| format!("{value} does not fit into {width} bits"))
            }
            (Self::Float(float), CaseNumber::Integer(value)) => encode_float(float, value as f64),
            (Self::Float(float), CaseNumber::Float(value)) => encode_float(float, value),
            (_, CaseNumber::Float(value)) => Err(format!("{value:?} is no integer")),
        }
    }
}

fn encode_float(float: Float, value: f64) -> Result<u64, String> {
    let bits =
        if value.is_finite() { float.encode(value) } else { float.format().round(value, RoundingMode::NearestEven) };
    bits.ok_or_else(|| format!("`{float}` has no {value:?}"))
}

impl fmt::Display for CaseNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Integer(value) => write!(f, "{value}"),
            Self::Float(value) => write!(f, "{value:?}"),
        }
    }
}
