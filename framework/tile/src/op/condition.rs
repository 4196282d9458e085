//! Conditions of operations that the verifier checks, as rows list them.
//!
//! `verify = "cmp = pointee(ptr); rank(desc 2); parent(scf.while)"`: a type that follows from others, in the notation of
//! `types`, or a named condition with its arguments: groups, attributes, numbers or names.

use tilewright_layout::text::{Cursor, Parsed};

use super::{Expression, Rule};

/// One condition of a row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Condition {
    /// The types of a group follow from those of others.
    Types(Rule),
    /// A condition of the verifier, by name.
    Named {
        /// Its name.
        name: String,
        /// Its arguments.
        arguments: Vec<String>,
    },
}

impl Condition {
    /// Parses conditions separated by `;`.
    ///
    /// # Errors
    /// [`TextError`](tilewright_layout::text::TextError) with a position in the conditions.
    pub fn list(text: &str) -> Parsed<Vec<Self>> {
        let mut cursor = Cursor::new(text);
        let mut conditions = Vec::new();
        while !cursor.is_at_end() {
            conditions.push(Self::read(&mut cursor)?);
            if !cursor.takes(";") {
                cursor.end("`;` or the end of the conditions")?;
            }
        }
        Ok(conditions)
    }

    fn read(cursor: &mut Cursor<'_>) -> Parsed<Self> {
        let name = cursor.identifier("a group or a condition")?.to_owned();
        if cursor.takes("=") {
            return Ok(Self::Types(Rule { target: name, expression: Expression::read(cursor)? }));
        }
        let mut arguments = Vec::new();
        if cursor.takes("(") {
            while !cursor.takes(")") {
                cursor.skip_blanks();
                let argument = cursor.take_while(|c| c.is_ascii_alphanumeric() || "_.-".contains(c));
                if argument.is_empty() {
                    return Err(cursor.expected("a group, an attribute or a number"));
                }
                arguments.push(argument.to_owned());
            }
        }
        Ok(Self::Named { name, arguments })
    }

    /// The rule about types; `None` for a named condition.
    pub(super) fn as_types(&self) -> Option<&Rule> {
        match self {
            Self::Types(rule) => Some(rule),
            Self::Named { .. } => None,
        }
    }

    /// The name of the condition, if the verifier has none of this name.
    pub(super) fn unknown(&self) -> Option<&str> {
        match self {
            Self::Named { name, .. } if !crate::verify::is_condition(name) => Some(name),
            _ => None,
        }
    }
}
