//! Attributes of operations, functions and modules.

use std::fmt;
use std::sync::Arc;

use super::decimal;
use super::types::{LayoutAttribute, TileType, WriteLayout, write_types};

/// An attribute of an operation, function or module: a compile-time constant.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Attribute {
    /// A unit attribute: its presence is its value.
    Unit,
    /// A bool: `true` or `false`.
    Bool(bool),
    /// An integer or floating-point number: its bits and its type.
    Number(NumberAttribute),
    /// A string, written in quotes.
    Text(Arc<str>),
    /// A symbol, the name of a function or another definition of the module: `@name`.
    Symbol(Arc<str>),
    /// A keyword: text that the operation's format writes without quotes. The operation's definition lists the allowed
    /// keywords.
    Keyword(Arc<str>),
    /// A list in brackets.
    List(Vec<Attribute>),
    /// A dense array of numbers of one type, `array<i32: 1, 0>`: the type, and the bits of each number.
    Array(TileType, Vec<u64>),
    /// The elements of a constant tensor: `dense<0.0> : tensor<4xf32>`.
    Dense(DenseElements),
    /// A type of the tile IR.
    Type(TileType),
    /// A dictionary in braces.
    Dictionary(Attributes),
    /// A layout: a family with its parameters, `#ttg.blocked<{...}>`, or the alias of one.
    Layout(LayoutAttribute),
    /// An attribute of an unknown dialect, as text: `#dialect.name<...>`.
    Foreign(Arc<str>),
}

/// A number with its type, as bits.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct NumberAttribute {
    /// The bits of the number; those above the type's width are zero.
    pub bits: u64,
    /// The type of the number: an integer type, `index` or a floating-point type.
    pub ty: TileType,
}

/// The elements of a constant tensor.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct DenseElements {
    /// The type of the constant tensor.
    pub ty: TileType,
    /// The bits of the elements, row-major; a single entry if all elements are equal.
    pub elements: Arc<[u64]>,
}

/// Named attributes, in the order of their names.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Attributes(Vec<(Arc<str>, Attribute)>);

impl Attributes {
    /// Returns the attribute with this name; `None` if there is none.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Attribute> {
        self.find_index(name).ok().map(|index| &self.0[index].1)
    }

    /// Sets the attribute with this name; returns its previous value, or `None` if there was none.
    pub fn set(&mut self, name: &str, value: impl Into<Attribute>) -> Option<Attribute> {
        let value = value.into();
        match self.find_index(name) {
            Ok(index) => Some(std::mem::replace(&mut self.0[index].1, value)),
            Err(index) => {
                self.0.insert(index, (name.into(), value));
                None
            }
        }
    }

    /// Removes the attribute with this name, and returns its value; `None` if there was none.
    pub fn remove(&mut self, name: &str) -> Option<Attribute> {
        self.find_index(name).ok().map(|index| self.0.remove(index).1)
    }

    /// Iterates over all attributes with their names, in ascending order of the names.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&str, &Attribute)> {
        self.0.iter().map(|(name, value)| (&**name, value))
    }

    /// Whether there is no attribute.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn find_index(&self, name: &str) -> Result<usize, usize> {
        self.0.binary_search_by(|(known, _)| (**known).cmp(name))
    }
}

impl NumberAttribute {
    /// Returns the value of an integer or `index`, sign-extended from its width; `None` for floating-point numbers.
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
    /// Creates an integer attribute, with `value` truncated to the width of the type; for a tensor type, a constant
    /// tensor with that value in all elements.
    #[must_use]
    pub fn integer(value: i64, ty: TileType) -> Self {
        let kept = match ty.element() {
            TileType::Integer(bits, _) if *bits < 64 => value as u64 & ((1 << bits) - 1),
            _ => value as u64,
        };
        Self::of_bits(kept, ty)
    }

    /// Creates a number attribute with these bits; for a tensor type, a constant tensor with these bits in all
    /// elements.
    pub(crate) fn of_bits(bits: u64, ty: TileType) -> Self {
        match ty {
            TileType::Tensor(_) => Self::Dense(DenseElements { ty, elements: [bits].into() }),
            _ => Self::Number(NumberAttribute { bits, ty }),
        }
    }

    /// The integer value of a number or bool (0 or 1); `None` for other attributes.
    #[must_use]
    pub fn as_integer(&self) -> Option<i64> {
        match self {
            Self::Number(number) => number.as_integer(),
            Self::Bool(value) => Some(i64::from(*value)),
            _ => None,
        }
    }

    /// Returns the integers of an array, or of a list of integers; `None` for other attributes.
    #[must_use]
    pub fn as_integers(&self) -> Option<Vec<i64>> {
        match self {
            Self::Array(ty, bits) => bits.iter().map(|bits| Self::of_bits(*bits, ty.clone()).as_integer()).collect(),
            Self::List(items) => items.iter().map(Self::as_integer).collect(),
            _ => None,
        }
    }

    /// As [`Self::as_integers`], for integers that are not negative, such as offsets; `None` if one is negative.
    #[must_use]
    pub fn as_unsigned_integers(&self) -> Option<Vec<u64>> {
        self.as_integers()?.into_iter().map(|integer| u64::try_from(integer).ok()).collect()
    }

    /// Returns the text of a string, keyword or symbol attribute; `None` for other attributes.
    #[must_use]
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(text) | Self::Keyword(text) | Self::Symbol(text) => Some(text),
            _ => None,
        }
    }

    /// Returns the type of the result of an `arith.constant` with this attribute as its value; `None` if the attribute
    /// is no constant.
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
            Self::Keyword(word) => f.write_str(word),
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
    /// Writes the attributes in braces.
    pub(super) fn write(&self, f: &mut dyn fmt::Write, layouts: &WriteLayout<'_>) -> fmt::Result {
        write_entries(f, self.iter(), layouts)
    }
}

/// Writes named attributes in braces; a unit attribute is written as its name only.
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

/// Whether a name needs no quotes: it is a letter or underscore, followed by letters, digits, `_`, `$` and `.`.
fn is_bare(name: &str) -> bool {
    let first = |c: char| c.is_ascii_alphabetic() || c == '_';
    // Other characters, such as the `-` of some dialect names, need quotes.
    name.starts_with(first) && name.chars().all(|c| first(c) || c.is_ascii_digit() || "$.".contains(c))
}

pub(super) fn write_symbol(f: &mut dyn fmt::Write, name: &str) -> fmt::Result {
    f.write_str("@")?;
    if is_bare(name) { f.write_str(name) } else { write_quoted(f, name) }
}

/// Writes a string in quotes, escaped as in MLIR: a backslash is doubled, and a quote or a byte outside of printable
/// ASCII becomes `\` and two hexadecimal digits.
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

/// Writes the number that `bits` encode in the type `ty`, without the type.
pub(super) fn write_bits(f: &mut dyn fmt::Write, bits: u64, ty: &TileType) -> fmt::Result {
    match ty {
        TileType::Float(float) => f.write_str(&decimal::text(*float, bits)),
        TileType::Integer(1, _) => write!(f, "{}", bits & 1 == 1),
        _ => match (NumberAttribute { bits, ty: ty.clone() }).as_integer() {
            Some(value) => write!(f, "{value}"),
            None => write!(f, "0x{bits:X}"),
        },
    }
}

impl DenseElements {
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

/// Writes elements in nested brackets, one level per axis.
fn write_nested(f: &mut dyn fmt::Write, shape: &[u64], elements: &[u64], ty: &TileType) -> fmt::Result {
    let Some((size, inner)) = shape.split_first() else {
        return elements.first().map_or(Ok(()), |bits| write_bits(f, *bits, ty));
    };
    let step = elements.len() / usize::try_from(*size).unwrap_or(usize::MAX).max(1);
    f.write_str("[")?;
    separated(f, elements.chunks(step.max(1)), |f, elements_of_axis| write_nested(f, inner, elements_of_axis, ty))?;
    f.write_str("]")
}
