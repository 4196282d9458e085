//! Type inference rules of operations.

use std::fmt;

use tilewright_layout::text::{Cursor, Parsed};

use crate::types::TileType;

/// A type inference rule `target = expression`, for groups whose types the text does not give.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TypeInferenceRule {
    /// Name of the group whose types are inferred.
    pub target: String,
    /// The expression for the types of the group.
    pub expression: TypeExpression,
}

/// An expression for a type, which refers to the types of operand and result groups.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TypeExpression {
    /// The type of the first value of the group with this name; as a whole rule, the types of all its values.
    Same(String),
    /// The element type of the expression's type.
    Element(Box<TypeExpression>),
    /// The pointee of the expression's type.
    Pointee(Box<TypeExpression>),
    /// The expression's type with elements of type `i1` if it is a tensor, otherwise `i1`.
    Boolean(Box<TypeExpression>),
    /// A fixed type.
    Constant(TileType),
}

impl TypeInferenceRule {
    /// Parses rules: `mask = boolean(result); index = i32`.
    ///
    /// # Errors
    /// [`TextError`](tilewright_layout::text::TextError) at the first syntax error in the rules.
    pub fn parse_rules(text: &str) -> Parsed<Vec<Self>> {
        let mut cursor = Cursor::new(text);
        let mut rules = Vec::new();
        while !cursor.is_at_end() {
            let target = cursor.read_identifier("a group")?.to_owned();
            cursor.expect("=")?;
            rules.push(Self { target, expression: TypeExpression::read(&mut cursor)? });
            if !cursor.skip_if_next(";") {
                cursor.expect_end("`;` or the end of the rules")?;
            }
        }
        Ok(rules)
    }
}

impl TypeExpression {
    pub(super) fn read(cursor: &mut Cursor<'_>) -> Parsed<Self> {
        let name =
            cursor.read_identifier("a group, `element(...)`, `pointee(...)`, `boolean(...)`, `token` or `i32`")?;
        let outer = match name {
            "element" => Self::Element,
            "pointee" => Self::Pointee,
            "boolean" => Self::Boolean,
            "token" => return Ok(Self::Constant(TileType::Token)),
            "index_type" => return Ok(Self::Constant(TileType::Index)),
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

    /// Returns the name of the group to whose type the expression refers; `None` for a fixed type.
    pub(super) fn groups(&self) -> Option<&str> {
        match self {
            Self::Same(name) => Some(name),
            Self::Element(inner) | Self::Pointee(inner) | Self::Boolean(inner) => inner.groups(),
            Self::Constant(_) => None,
        }
    }

    /// Returns the type of the expression; `known` returns the type of a group by its name. `None` if the type of the
    /// group is not known.
    #[must_use]
    pub fn evaluate(&self, known: &dyn Fn(&str) -> Option<TileType>) -> Option<TileType> {
        match self {
            Self::Same(name) => known(name),
            Self::Element(inner) => Some(inner.evaluate(known)?.element().clone()),
            Self::Pointee(inner) => inner.evaluate(known)?.pointee_type(),
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

impl fmt::Display for TypeInferenceRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} = {}", self.target, self.expression)
    }
}

impl fmt::Display for TypeExpression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Same(group) => f.write_str(group),
            Self::Element(of) => write!(f, "element({of})"),
            Self::Pointee(of) => write!(f, "pointee({of})"),
            Self::Boolean(of) => write!(f, "boolean({of})"),
            Self::Constant(ty) => write!(f, "{ty}"),
        }
    }
}
