//! An error at a position of a text.

use thiserror::Error;

/// A text that violates its grammar or a rule; its author's fault.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{line}:{column}: {message}{}", hint.as_ref().map(|hint| format!("; {hint}")).unwrap_or_default())]
pub struct TextError {
    /// Byte offset into the text.
    pub at: usize,
    /// The line of that byte, from 1.
    pub line: usize,
    /// The character within that line, from 1.
    pub column: usize,
    /// The fault, and what was expected.
    pub message: String,
    /// A probable correction of the text; `None` if there is none.
    pub hint: Option<String>,
}

impl TextError {
    /// The error at a byte of a text.
    #[must_use]
    pub fn new(text: &str, at: usize, message: impl Into<String>) -> Self {
        let at = (0..=at.min(text.len())).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0);
        let before = &text[..at];
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        let line = 1 + before.matches('\n').count();
        Self { at, line, column: 1 + before[line_start..].chars().count(), message: message.into(), hint: None }
    }

    /// The same error with a probable correction.
    #[must_use]
    pub fn with_hint(self, hint: impl Into<String>) -> Self {
        Self { hint: Some(hint.into()), ..self }
    }
}
