//! How the types of an operation's values follow from each other.

use crate::types::Type;

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
    Constant(Type),
}

impl Rule {
    /// Rules from text: `mask = boolean(result); index = i32`.
    ///
    /// # Errors
    /// What is wrong, in words.
    pub fn list(text: &str) -> Result<Vec<Self>, String> {
        let rules = text.split(';').map(str::trim).filter(|rule| !rule.is_empty());
        rules
            .map(|rule| {
                let (target, expression) = rule.split_once('=').ok_or_else(|| format!("`{rule}` has no `=`"))?;
                Ok(Self { target: target.trim().to_owned(), expression: Expression::parse(expression.trim())? })
            })
            .collect()
    }
}

impl Expression {
    fn parse(text: &str) -> Result<Self, String> {
        let inner = |name: &str| text.strip_prefix(name)?.trim_start().strip_prefix('(')?.strip_suffix(')');
        let of = |inner: &str| Self::parse(inner.trim()).map(Box::new);
        if let Some(inner) = inner("element") {
            return Ok(Self::Element(of(inner)?));
        }
        if let Some(inner) = inner("pointee") {
            return Ok(Self::Pointee(of(inner)?));
        }
        if let Some(inner) = inner("boolean") {
            return Ok(Self::Boolean(of(inner)?));
        }
        if text == "token" {
            return Ok(Self::Constant(Type::Token));
        }
        let bits = text.strip_prefix('i').and_then(|bits| bits.parse().ok());
        if let Some(bits) = bits {
            return Ok(Self::Constant(Type::integer(bits)));
        }
        let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
        match text.chars().all(is_word) && !text.is_empty() {
            true => Ok(Self::Same(text.to_owned())),
            false => Err(format!(
                "`{text}` is no expression: expected a group, `element(...)`, `pointee(...)`, `boolean(...)`, `token` or `i32`"
            )),
        }
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
    pub fn evaluate(&self, known: &dyn Fn(&str) -> Option<Type>) -> Option<Type> {
        match self {
            Self::Same(name) => known(name),
            Self::Element(inner) => Some(inner.evaluate(known)?.element().clone()),
            Self::Pointee(inner) => inner.evaluate(known)?.pointee(),
            Self::Boolean(inner) => {
                let of = inner.evaluate(known)?;
                Some(match of {
                    Type::Tensor(_) => of.with_element(Type::BOOLEAN),
                    _ => Type::BOOLEAN,
                })
            }
            Self::Constant(ty) => Some(ty.clone()),
        }
    }
}
