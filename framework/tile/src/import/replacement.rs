//! Import rules, parsed.

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
    /// Its terms are emitted at later operations that use this operand and whose rule is `remembered(...)`.
    pub(super) remember: Option<Term>,
    /// Operands and attributes with which the foreign operation is rejected, each with the reason.
    pub(super) unless: BTreeMap<String, String>,
    /// The reason why the foreign operation is rejected; `None` if it is not.
    pub(super) refused: Option<String>,
}
