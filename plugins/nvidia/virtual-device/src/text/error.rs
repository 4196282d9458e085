//! Errors in PTX text, with the line of the error.

use thiserror::Error;

/// The reason why the virtual device cannot run a PTX text: an error in the text, or an unsupported feature.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("line {line}: {message}")]
pub struct PtxError {
    /// The line of the text, counted from one.
    pub line: u32,
    /// The error message: what was found, what was expected, and how to fix it if known.
    pub message: String,
}

impl PtxError {
    pub(crate) fn new(line: u32, message: impl Into<String>) -> Self {
        Self { line, message: message.into() }
    }
}
