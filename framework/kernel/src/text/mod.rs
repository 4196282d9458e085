//! Modules as text.
//!
//! One statement a line, regions in braces; `docs/kernel-ir.md` has the grammar. [`parse`] reads
//! what `Display` writes: `parse(&module.to_string())` gives the module back, verified or not, as
//! long as the bodies of its kernels take no arguments and regions nest no deeper than
//! [`super::MAX_DEPTH`].

mod parse;
mod print;
mod token;

pub use parse::parse;
pub use print::statement_line;

use thiserror::Error;

/// Text that is no module. The fault of the text's author.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{line}:{column}: {message}")]
pub struct ParseError {
    /// Line, from one.
    pub line: usize,
    /// Column in characters, from one.
    pub column: usize,
    /// What was found, what was expected.
    pub message: String,
}

/// Whether a name stands in text as it is: letters, digits and underscores, not beginning with a
/// digit. Others are quoted.
pub(super) fn is_identifier(name: &str) -> bool {
    let letter = |c: char| c.is_ascii_alphabetic() || c == '_';
    name.starts_with(letter) && name.chars().all(|c| letter(c) || c.is_ascii_digit())
}
