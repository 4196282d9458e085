//! What is wrong with a text, and where.

use thiserror::Error;

/// A text or JSON value that names no layout; the writer's fault.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("at line {line}, column {column}: {message}")]
pub struct NotationError {
    /// Byte offset into the text; zero for JSON values.
    pub at: usize,
    /// The line of that place, from 1.
    pub line: usize,
    /// The character of that line, from 1.
    pub column: usize,
    /// What is wrong, what was expected.
    pub message: String,
}

impl NotationError {
    /// The error at a byte of a text.
    #[must_use]
    pub fn new(text: &str, at: usize, message: impl Into<String>) -> Self {
        let at = (0..=at.min(text.len())).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0);
        let before = &text[..at];
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        let line = 1 + before.matches('\n').count();
        Self { at, line, column: 1 + before[line_start..].chars().count(), message: message.into() }
    }

    /// The error of a JSON value, which has no places.
    pub(super) fn of_value(error: &serde_json::Error) -> Self {
        Self::new("", 0, error.to_string())
    }

    /// The error of JSON text.
    pub(super) fn of_json(text: &str, error: &serde_json::Error) -> Self {
        let before: usize = text.split_inclusive('\n').take(error.line().saturating_sub(1)).map(str::len).sum();
        let message = error.to_string();
        // The place is said once.
        let end = message.rfind(" at line ").unwrap_or(message.len());
        Self::new(text, before + error.column().saturating_sub(1), &message[..end])
    }
}
