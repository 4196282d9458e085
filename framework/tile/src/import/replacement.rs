//! The parsed import rule of a foreign operation: the terms that replace it, or the reason why it is rejected.

use super::term::Term;
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
