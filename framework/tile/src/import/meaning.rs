//! Meanings of foreign words.

use super::term::Term;
use std::collections::BTreeMap;

/// What one foreign word means.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Meaning {
    /// What stands for it; nothing where it means nothing here.
    pub(super) terms: Vec<Term>,
    /// What stands for it instead where it has this operand or attribute.
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
