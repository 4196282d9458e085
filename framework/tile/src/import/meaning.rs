//! Meanings of foreign words.

use super::term::Term;
use std::collections::BTreeMap;

/// The import rule of one foreign operation, attribute or type.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Meaning {
    /// The terms that replace it; empty if it is dropped.
    pub(super) terms: Vec<Term>,
    /// The terms that replace it if it has this operand or attribute.
    pub(super) having: BTreeMap<String, Vec<Term>>,
    /// Only where this holds.
    pub(super) when: Option<Term>,
    /// It only says what this operand stands for, to be asked for later.
    pub(super) remember: Option<Term>,
    /// Operands and attributes that it may not have, with the reason.
    pub(super) unless: BTreeMap<String, String>,
    /// Why it has no meaning here.
    pub(super) refused: Option<String>,
}
