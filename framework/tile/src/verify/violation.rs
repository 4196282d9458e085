//! Errors of verification.

use crate::{Function, Operation};
use std::sync::Arc;
use thiserror::Error;
use tilewright_layout::text::TextError;

/// A violation of a rule by a tile program.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("in `@{function}`: `{operation}`: {message}")]
pub struct TileViolation {
    /// Name of the function that violates the rule, without `@`; empty for a violation outside of functions.
    pub function: Arc<str>,
    /// Name of the operation that violates the rule; `tt.func` if it is none, `module` for a named layout or type.
    pub operation: Arc<str>,
    /// Byte offset of the operation in the parsed text; `None` if the operation was not parsed.
    pub at: Option<u32>,
    /// The violated rule, and the values that violate it.
    pub message: String,
}

impl TileViolation {
    /// A violation at an operation of a function.
    #[must_use]
    pub fn of(function: &Function, operation: &Operation, message: impl Into<String>) -> Self {
        Self {
            function: Arc::clone(&function.name),
            operation: Arc::clone(&operation.definition.name),
            at: operation.location.at,
            message: message.into(),
        }
    }

    /// The violation as an error at its position in `text`, the module's text.
    #[must_use]
    pub fn to_text_error(&self, text: &str) -> TextError {
        let message = format!("`{}`: {}", self.operation, self.message);
        TextError::new(text, self.at.unwrap_or(0) as usize, message)
    }
}
