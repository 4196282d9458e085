//! Errors with a place in PTX text.

use thiserror::Error;

/// Why a text is no program that the virtual device runs; its author's fault, or a limit that the message names.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("line {line}: {message}")]
pub struct PtxError {
    /// The line, counted from one.
    pub line: u32,
    /// What was found, what was expected, and what to do.
    pub message: String,
}

impl PtxError {
    pub(crate) fn new(line: u32, message: impl Into<String>) -> Self {
        Self { line, message: message.into() }
    }
}
