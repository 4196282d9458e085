//! The error of the parser.

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
