//! Errors in PTX text, with the line.

use thiserror::Error;

/// The reason why the virtual device cannot run a PTX text: a mistake in the text, or a limit of the virtual device.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("line {line}: {message}")]
pub struct PtxError {
    /// The line of the text, counted from one.
    pub line: u32,
    /// The error message: found and expected text, and the remedy.
    pub message: String,
}

impl PtxError {
    pub(crate) fn new(line: u32, message: impl Into<String>) -> Self {
        Self { line, message: message.into() }
    }
}
