//! Import rules, parsed.

use super::term::Term;
use std::collections::BTreeMap;

/// The import rule of one foreign operation, attribute or type.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Replacement {
    /// The terms that replace the foreign operation; empty if it is dropped.
    pub(super) terms: Vec<Term>,
    /// For an operand or attribute by name (`name=keyword` for one value of an attribute): the terms that replace the
    /// foreign operation if it has that one.
    pub(super) having: BTreeMap<String, Vec<Term>>,
    /// The condition under which the terms are executed; `None` if always.
    pub(super) when: Option<Term>,
    /// The operand that the foreign operation initializes: later operations with this operand refer to the operation.
    pub(super) remember: Option<Term>,
    /// Operands and attributes that the foreign operation may not have, each with the reason.
    pub(super) unless: BTreeMap<String, String>,
    /// The reason why the foreign operation is rejected; `None` if it is not.
    pub(super) refused: Option<String>,
}
