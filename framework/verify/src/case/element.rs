//! The elements of buffers, which have signs, and numbers of them.

use std::fmt;

use tilewright_target::RoundingMode;
use tilewright_tile::Float;

/// What the elements of a buffer are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Element {
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
pub enum Value {
    /// An integer.
    Integer(i128),
    /// A floating-point number.
    Float(f64),
}

/// Names of elements.
const NAMES: [(&str, Element); 18] = [
    ("i1", Element::Boolean),
    ("u1", Element::Boolean),
    ("bool", Element::Boolean),
    ("i8", Element::Signed(8)),
    ("i16", Element::Signed(16)),
    ("i32", Element::Signed(32)),
    ("i64", Element::Signed(64)),
    ("u8", Element::Unsigned(8)),
    ("u16", Element::Unsigned(16)),
    ("u32", Element::Unsigned(32)),
    ("u64", Element::Unsigned(64)),
    ("f16", Element::Float(Float::F16)),
    ("bf16", Element::Float(Float::Bf16)),
    ("f32", Element::Float(Float::F32)),
    ("f64", Element::Float(Float::F64)),
    ("f8e4m3", Element::Float(Float::F8E4M3Fn)),
    ("f8e5m2", Element::Float(Float::F8E5M2)),
    ("f8e8m0", Element::Float(Float::F8E8M0Fnu)),
];

impl Element {
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
    pub fn value(self, bytes: &[u8]) -> Value {
        let bits = bytes.iter().rev().fold(0u64, |word, &byte| word << 8 | u64::from(byte));
        match self {
            Self::Boolean => Value::Integer(i128::from(bits != 0)),
            Self::Signed(width) => Value::Integer(i128::from((bits << (64 - width)) as i64 >> (64 - width))),
            Self::Unsigned(_) => Value::Integer(i128::from(bits)),
            Self::Float(float) => Value::Float(float.decode(bits)),
        }
    }

    /// The bits of a number of this element. Integers may be from the least signed to the greatest unsigned of the
    /// width; floating-point numbers are rounded to nearest.
    ///
    /// # Errors
    /// Why the element has no such number, in words.
    pub fn encode(self, value: Value) -> Result<u64, String> {
        let width = self.bytes() * 8;
        match (self, value) {
            (Self::Boolean, Value::Integer(value)) => Ok(u64::from(value != 0)),
            (Self::Signed(_) | Self::Unsigned(_), Value::Integer(value)) => {
                let fits = (-1i128 << (width - 1)..1i128 << width).contains(&value);
                let bits = value as u64 & (u64::MAX >> (64 - width));
                fits.then_some(bits).ok_or_else(|| format!("{value} does not fit into {width} bits"))
            }
            (Self::Float(float), Value::Integer(value)) => encode_float(float, value as f64),
            (Self::Float(float), Value::Float(value)) => encode_float(float, value),
            (_, Value::Float(value)) => Err(format!("{value:?} is no integer")),
        }
    }
}

fn encode_float(float: Float, value: f64) -> Result<u64, String> {
    let bits =
        if value.is_finite() { float.encode(value) } else { float.format().round(value, RoundingMode::NearestEven) };
    bits.ok_or_else(|| format!("`{float}` has no {value:?}"))
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Integer(value) => write!(f, "{value}"),
            Self::Float(value) => write!(f, "{value:?}"),
        }
    }
}
