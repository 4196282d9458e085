//! What operations, functions and modules are told besides their operands.

use std::fmt;
use std::sync::Arc;

use super::decimal;
use super::types::{LayoutName, TileType, WriteLayout, write_types};

/// A value known when the program is written.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Attribute {
    /// Said by being there.
    Unit,
    /// True or false.
    Bool(bool),
    /// An integer or floating-point number: its bits, and its type.
    Number(TypedNumber),
    /// A text.
    Text(Arc<str>),
    /// The name of a function or of something else of the module: `@name`.
    Symbol(Arc<str>),
    /// A word that an operation's format has without quotes, one of those that its row lists.
    Word(Arc<str>),
    /// Values in brackets.
    List(Vec<Attribute>),
    /// Numbers of one type without brackets: `array<i32: 1, 0>`; each as its bits.
    Array(TileType, Vec<u64>),
    /// The elements of a tensor: `dense<0.0> : tensor<4xf32>`.
    Dense(Dense),
    /// A type.
    Type(TileType),
    /// Named values in braces.
    Dictionary(Attributes),
    /// A layout.
    Layout(LayoutName),
    /// What only the one who wrote it reads: `#dialect.name<...>`.
    Foreign(Arc<str>),
}

/// A number of a type.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct TypedNumber {
    /// Its bits; those above the type's width are zero.
    pub bits: u64,
    /// An integer, `index` or a floating-point type.
    pub ty: TileType,
}

/// The elements of a tensor.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Dense {
    /// The tensor's type.
    pub ty: TileType,
    /// The bits of its elements, row-major; one alone where all are the same.
    pub elements: Arc<[u64]>,
}

/// Named values, in the order of their names.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Attributes(Vec<(Arc<str>, Attribute)>);

impl Attributes {
    /// The value of a name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Attribute> {
        self.place(name).ok().map(|place| &self.0[place].1)
    }

    /// Gives a name its value, and returns the one that it had.
    pub fn set(&mut self, name: &str, value: impl Into<Attribute>) -> Option<Attribute> {
        let value = value.into();
        match self.place(name) {
            Ok(place) => Some(std::mem::replace(&mut self.0[place].1, value)),
            Err(place) => {
                self.0.insert(place, (name.into(), value));
                None
            }
        }
    }

    /// Takes the value of a name out.
    pub fn remove(&mut self, name: &str) -> Option<Attribute> {
        self.place(name).ok().map(|place| self.0.remove(place).1)
    }

    /// All names with their values.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&str, &Attribute)> {
        self.0.iter().map(|(name, value)| (&**name, value))
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn place(&self, name: &str) -> Result<usize, usize> {
        self.0.binary_search_by(|(known, _)| (**known).cmp(name))
    }
}

impl TypedNumber {
    /// The integer, its highest bit taken as a sign; `None` of a floating-point number.
    #[must_use]
    pub fn as_integer(&self) -> Option<i64> {
        match self.ty {
            TileType::Integer(bits, _) if bits < 64 => {
                let unused = 64 - bits.max(1);
                Some((self.bits << unused) as i64 >> unused)
            }
            TileType::Integer(..) | TileType::Index => Some(self.bits as i64),
            _ => None,
        }
    }
}

impl Attribute {
    /// An integer of a type, cut to its width; of a tensor every element is it.
    #[must_use]
    pub fn integer(value: i64, ty: TileType) -> Self {
        let kept = match ty.element() {
            TileType::Integer(bits, _) if *bits < 64 => value as u64 & ((1 << bits) - 1),
            _ => value as u64,
        };
        Self::of_bits(kept, ty)
    }

    /// The number of these bits; of a tensor every element has them.
    pub(crate) fn of_bits(bits: u64, ty: TileType) -> Self {
        match ty {
            TileType::Tensor(_) => Self::Dense(Dense { ty, elements: [bits].into() }),
            _ => Self::Number(TypedNumber { bits, ty }),
        }
    }

    /// The integer that this is; true and false are one and zero.
    #[must_use]
    pub fn as_integer(&self) -> Option<i64> {
        match self {
            Self::Number(number) => number.as_integer(),
            Self::Bool(value) => Some(i64::from(*value)),
            _ => None,
        }
    }

    /// The text or word that this is.
    #[must_use]
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(text) | Self::Word(text) | Self::Symbol(text) => Some(text),
            _ => None,
        }
    }

    /// The type that a constant of this value has.
    #[must_use]
    pub fn value_type(&self) -> Option<TileType> {
        match self {
            Self::Bool(_) => Some(TileType::BOOLEAN),
            Self::Number(number) => Some(number.ty.clone()),
            Self::Dense(dense) => Some(dense.ty.clone()),
            _ => None,
        }
    }
}

impl From<bool> for Attribute {
    fn from(value: bool) -> Self {
        Self::Bool(value)
    }
}

impl From<i32> for Attribute {
    fn from(value: i32) -> Self {
        Self::integer(i64::from(value), TileType::integer(32))
    }
}

impl From<&str> for Attribute {
    fn from(value: &str) -> Self {
        Self::Text(value.into())
    }
}

impl fmt::Display for Attribute {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write(f, &|layout, f| f.write_str(layout.text()))
    }
}

impl Attribute {
    pub(super) fn write(&self, f: &mut dyn fmt::Write, layouts: &WriteLayout<'_>) -> fmt::Result {
        match self {
            Self::Unit => f.write_str("unit"),
            Self::Bool(value) => write!(f, "{value}"),
            Self::Number(number) => {
                write_bits(f, number.bits, &number.ty)?;
                write!(f, " : {}", number.ty)
            }
            Self::Text(text) => write_quoted(f, text),
            Self::Symbol(name) => write_symbol(f, name),
            Self::Word(word) => f.write_str(word),
            Self::List(values) => {
                f.write_str("[")?;
                separated(f, values.iter(), |f, value| value.write(f, layouts))?;
                f.write_str("]")
            }
            Self::Array(ty, values) => {
                write!(f, "array<{ty}")?;
                f.write_str(if values.is_empty() { "" } else { ": " })?;
                separated(f, values.iter(), |f, bits| write_bits(f, *bits, ty))?;
                f.write_str(">")
            }
            Self::Dense(dense) => dense.write(f, layouts),
            Self::Type(TileType::Function(signature)) => {
                f.write_str("(")?;
                write_types(f, &signature.arguments, layouts)?;
                f.write_str(") -> (")?;
                write_types(f, &signature.results, layouts)?;
                f.write_str(")")
            }
            Self::Type(ty) => ty.write(f, layouts),
            Self::Dictionary(attributes) => attributes.write(f, layouts),
            Self::Layout(layout) => f.write_str(layout.text()),
            Self::Foreign(text) => f.write_str(text),
        }
    }
}

impl Attributes {
    /// In braces.
    pub(super) fn write(&self, f: &mut dyn fmt::Write, layouts: &WriteLayout<'_>) -> fmt::Result {
        write_entries(f, self.iter(), layouts)
    }
}

/// Named values in braces; of what is said by being there the name alone.
pub(super) fn write_entries<'a>(
    f: &mut dyn fmt::Write,
    entries: impl Iterator<Item = (&'a str, &'a Attribute)>,
    layouts: &WriteLayout<'_>,
) -> fmt::Result {
    f.write_str("{")?;
    separated(f, entries, |f, (name, value)| {
        if is_bare(name) {
            f.write_str(name)?
        } else {
            write_quoted(f, name)?
        }
        if *value == Attribute::Unit {
            return Ok(());
        }
        f.write_str(" = ")?;
        value.write(f, layouts)
    })?;
    f.write_str("}")
}

fn separated<T>(
    f: &mut dyn fmt::Write,
    items: impl Iterator<Item = T>,
    mut write: impl FnMut(&mut dyn fmt::Write, T) -> fmt::Result,
) -> fmt::Result {
    for (index, item) in items.enumerate() {
        f.write_str(if index == 0 { "" } else { ", " })?;
        write(f, item)?;
    }
    Ok(())
}

/// Whether a name needs no quotes: a letter or underscore, then those, digits, `$` and `.`.
fn is_bare(name: &str) -> bool {
    let first = |c: char| c.is_ascii_alphabetic() || c == '_';
    // Quotes also tell a dialect's name with `-` in it.
    name.starts_with(first) && name.chars().all(|c| first(c) || c.is_ascii_digit() || "$.".contains(c))
}

pub(super) fn write_symbol(f: &mut dyn fmt::Write, name: &str) -> fmt::Result {
    f.write_str("@")?;
    if is_bare(name) { f.write_str(name) } else { write_quoted(f, name) }
}

/// In quotes; what is no printable character of ASCII as `\` and two digits for each byte.
pub(super) fn write_quoted(f: &mut dyn fmt::Write, text: &str) -> fmt::Result {
    f.write_str("\"")?;
    for byte in text.bytes() {
        match byte {
            b'\\' => f.write_str("\\\\")?,
            b' '..=b'~' if byte != b'"' => f.write_char(char::from(byte))?,
            _ => write!(f, "\\{byte:02X}")?,
        }
    }
    f.write_str("\"")
}

/// A number without its type.
pub(super) fn write_bits(f: &mut dyn fmt::Write, bits: u64, ty: &TileType) -> fmt::Result {
    match ty {
        TileType::Float(float) => f.write_str(&decimal::text(*float, bits)),
        TileType::Integer(1, _) => write!(f, "{}", bits & 1 == 1),
        _ => match (TypedNumber { bits, ty: ty.clone() }).as_integer() {
            Some(value) => write!(f, "{value}"),
            None => write!(f, "0x{bits:X}"),
        },
    }
}

impl Dense {
    fn write(&self, f: &mut dyn fmt::Write, layouts: &WriteLayout<'_>) -> fmt::Result {
        f.write_str("dense<")?;
        let shape = self.ty.shape().unwrap_or_default();
        match &self.elements[..] {
            [bits] => write_bits(f, *bits, self.ty.element())?,
            elements => write_nested(f, shape, elements, self.ty.element())?,
        }
        f.write_str("> : ")?;
        self.ty.write(f, layouts)
    }
}

/// Elements in brackets, one pair for each axis.
fn write_nested(f: &mut dyn fmt::Write, shape: &[u64], elements: &[u64], ty: &TileType) -> fmt::Result {
    let Some((size, inner)) = shape.split_first() else {
        return elements.first().map_or(Ok(()), |bits| write_bits(f, *bits, ty));
    };
    let step = elements.len() / usize::try_from(*size).unwrap_or(usize::MAX).max(1);
    f.write_str("[")?;
    separated(f, elements.chunks(step.max(1)), |f, part| write_nested(f, inner, part, ty))?;
    f.write_str("]")
}
