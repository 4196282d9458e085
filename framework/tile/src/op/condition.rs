//! Parses the conditions on operations that the rows of dialect files list and the verifier checks.
//!
//! `verify = "cmp = pointee(ptr); rank(desc 2); kernel"`: a condition is a type that follows from others, in the
//! notation of `types`, or a rule's name with arguments. Arguments are groups, attributes, numbers or words.

use std::fmt;

use tilewright_layout::text::{Cursor, Parsed, TextError};

use super::{TypeExpression, TypeInferenceRule};
use crate::rules::VerifyRules;

/// A condition that an operation must satisfy, from the key `verify` of its row in a dialect file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum VerifyCondition {
    /// A rule by which the types of a group follow from those of others.
    Types(TypeInferenceRule),
    /// A rule of the verifier, by name.
    Named {
        /// The rule of the verifier that checks the condition.
        rule: crate::rules::VerifyRule,
        /// The arguments of the rule: names of groups or attributes, numbers, or words.
        arguments: Vec<String>,
    },
}

impl VerifyCondition {
    /// Parses conditions separated by `;`; a named condition is found in `rules`.
    ///
    /// # Errors
    /// A message with a position in the conditions, or with the name of an unknown rule.
    pub(super) fn list(text: &str, rules: &VerifyRules) -> Result<Vec<Self>, String> {
        let in_conditions = |error: TextError| format!("`verify`: {error}");
        let mut cursor = Cursor::new(text);
        let mut conditions = Vec::new();
        while !cursor.is_at_end() {
            let name = cursor.read_identifier("a group or a condition").map_err(in_conditions)?.to_owned();
            if cursor.skip_if_next("=") {
                let expression = TypeExpression::read(&mut cursor).map_err(in_conditions)?;
                conditions.push(Self::Types(TypeInferenceRule { target: name, expression }));
            } else {
                let arguments = arguments(&mut cursor).map_err(in_conditions)?;
                let unknown = || format!("`verify` has a condition `{name}`, which is not known");
                conditions.push(Self::Named { rule: rules.find_rule(&name).ok_or_else(unknown)?, arguments });
            }
            if !cursor.skip_if_next(";") {
                cursor.expect_end("`;` or the end of the conditions").map_err(in_conditions)?;
            }
        }
        Ok(conditions)
    }

    /// Returns the rule if the condition is one about types; `None` for a named condition.
    pub(super) fn as_types(&self) -> Option<&TypeInferenceRule> {
        match self {
            Self::Types(rule) => Some(rule),
            Self::Named { .. } => None,
        }
    }
}

/// Reads the arguments of a named condition, `(a b)`, if it has any.
fn arguments(cursor: &mut Cursor<'_>) -> Parsed<Vec<String>> {
    let mut arguments = Vec::new();
    if cursor.skip_if_next("(") {
        while !cursor.skip_if_next(")") {
            cursor.skip_blanks();
            let argument = cursor.take_while(|c| c.is_ascii_alphanumeric() || "_.-".contains(c));
            if argument.is_empty() {
                return Err(cursor.expected_token_error("a group, an attribute or a number"));
            }
            arguments.push(argument.to_owned());
        }
    }
    Ok(arguments)
}

impl fmt::Display for VerifyCondition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Types(rule) => write!(f, "{rule}"),
            Self::Named { rule, arguments } if arguments.is_empty() => f.write_str(rule.name),
            Self::Named { rule, arguments } => write!(f, "{}({})", rule.name, arguments.join(" ")),
        }
    }
}
