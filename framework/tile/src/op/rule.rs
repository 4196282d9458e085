//! How the types of an operation's values follow from each other.

use tilewright_layout::text::{Cursor, Parsed};

use crate::types::TileType;

/// `target = expression`: where the text does not give the types of a group, they are these.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rule {
    /// The group whose types follow.
    pub target: String,
    /// From what.
    pub expression: Expression,
}

/// A type in terms of others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Expression {
    /// The first type of a group.
    Same(String),
    /// The type of its elements.
    Element(Box<Expression>),
    /// What is pointed to.
    Pointee(Box<Expression>),
    /// One bit for each element.
    Boolean(Box<Expression>),
    /// A type that is always the same.
    Constant(TileType),
}

impl Rule {
    /// Rules from text: `mask = boolean(result); index = i32`.
    ///
    /// # Errors
    /// [`TextError`](tilewright_layout::text::TextError) at a place of the rules.
    pub fn list(text: &str) -> Parsed<Vec<Self>> {
        let mut cursor = Cursor::new(text);
        let mut rules = Vec::new();
        while !cursor.is_at_end() {
            let target = cursor.identifier("a group")?.to_owned();
            cursor.expect("=")?;
            rules.push(Self { target, expression: Expression::read(&mut cursor)? });
            if !cursor.takes(";") {
                cursor.end("`;` or the end of the rules")?;
            }
        }
        Ok(rules)
    }
}

impl Expression {
    fn read(cursor: &mut Cursor<'_>) -> Parsed<Self> {
        let name = cursor.identifier("a group, `element(...)`, `pointee(...)`, `boolean(...)`, `token` or `i32`")?;
        let outer = match name {
            "element" => Self::Element,
            "pointee" => Self::Pointee,
            "boolean" => Self::Boolean,
            "token" => return Ok(Self::Constant(TileType::Token)),
            _ => {
                let bits = name.strip_prefix('i').and_then(|bits| bits.parse().ok());
                let integer = bits.map(|bits| Self::Constant(TileType::integer(bits)));
                return Ok(integer.unwrap_or_else(|| Self::Same(name.to_owned())));
            }
        };
        cursor.expect("(")?;
        let inner = Self::read(cursor)?;
        cursor.expect(")")?;
        Ok(outer(Box::new(inner)))
    }

    /// The groups that it speaks of.
    pub(super) fn groups(&self) -> Option<&str> {
        match self {
            Self::Same(name) => Some(name),
            Self::Element(inner) | Self::Pointee(inner) | Self::Boolean(inner) => inner.groups(),
            Self::Constant(_) => None,
        }
    }

    /// The type, where that of the group is known.
    #[must_use]
    pub fn evaluate(&self, known: &dyn Fn(&str) -> Option<TileType>) -> Option<TileType> {
        match self {
            Self::Same(name) => known(name),
            Self::Element(inner) => Some(inner.evaluate(known)?.element().clone()),
            Self::Pointee(inner) => inner.evaluate(known)?.pointee(),
            Self::Boolean(inner) => {
                let of = inner.evaluate(known)?;
                Some(match of {
                    TileType::Tensor(_) => of.with_element(TileType::BOOLEAN),
                    _ => TileType::BOOLEAN,
                })
            }
            Self::Constant(ty) => Some(ty.clone()),
        }
    }
}
