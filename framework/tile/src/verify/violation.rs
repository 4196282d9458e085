//! Errors of verification.

use crate::{Function, Operation};
use std::sync::Arc;
use thiserror::Error;
use tilewright_layout::text::TextError;

/// A rule that a program breaks; the fault of whoever made the program.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("in `@{function}`: `{operation}`: {message}")]
pub struct TileViolation {
    /// The function.
    pub function: Arc<str>,
    /// The name of the operation, or of the function itself.
    pub operation: Arc<str>,
    /// Where the operation stands in the text that it was read from, in bytes.
    pub at: Option<u32>,
    /// The rule, and what was found.
    pub message: String,
}

impl TileViolation {
    /// A violation at an operation of a function.
    pub(crate) fn of(function: &Function, operation: &Operation, message: impl Into<String>) -> Self {
        Self {
            function: Arc::clone(&function.name),
            operation: Arc::clone(&operation.definition.name),
            at: operation.location.at,
            message: message.into(),
        }
    }

    /// The same at its place in the text that the module was read from.
    #[must_use]
    pub fn in_text(&self, text: &str) -> TextError {
        let message = format!("`{}`: {}", self.operation, self.message);
        TextError::new(text, self.at.unwrap_or(0) as usize, message)
    }
}
