//! The parsed import rule of a foreign operation: the terms that replace it, or the reason why it is rejected.

use super::term::Term;
use crate::{Attribute, Operation};
use std::collections::BTreeMap;

/// The import rule of one foreign operation, library function or assembly text.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Replacement {
    /// The terms that replace the foreign operation; empty if it is dropped.
    pub(super) terms: Vec<Term>,
    /// Alternative terms for foreign operations that have a certain operand or attribute, by its name.
    ///
    /// `name=keyword` stands for an attribute with this value.
    pub(super) having: BTreeMap<String, Vec<Term>>,
    /// The condition under which the terms are executed; `None` if always.
    pub(super) when: Option<Term>,
    /// The operand that the foreign operation initializes; no code is emitted at the operation. `None` for other
    /// operations.
    ///
    /// The terms of this rule are emitted at later operations that use the operand and whose rule is `remembered(...)`.
    pub(super) remember: Option<Term>,
    /// For names of operands and attributes, the reason why a foreign operation that has the operand or attribute is
    /// rejected. The name `name=keyword` stands for an attribute with this value.
    pub(super) unless: BTreeMap<String, String>,
    /// The reason why the foreign operation is always rejected; `None` if it is supported.
    pub(super) refused: Option<String>,
}

impl Replacement {
    /// Returns the terms that replace this operation.
    pub(super) fn terms_for(&self, operation: &Operation) -> &[Term] {
        let having = self.having.iter().find(|(name, _)| has(operation, name));
        having.map_or(&self.terms, |(_, terms)| terms)
    }
}

/// Whether an operation has an operand in the group `name`, or the attribute `name`.
///
/// A name `name=keyword` requires an attribute with this value.
pub(super) fn has(operation: &Operation, name: &str) -> bool {
    if let Some((name, keyword)) = name.split_once('=') {
        return operation.attributes.get(name).is_some_and(|value| match value {
            Attribute::Foreign(text) => **text == *keyword,
            other => other.as_text() == Some(keyword),
        });
    }
    let operands = operation.definition.operand_group_index(name).map(|group| operation.operand_group(group));
    operands.is_some_and(|operands| !operands.is_empty()) || operation.attributes.get(name).is_some()
}
