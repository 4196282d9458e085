//! What is wrong with a text, and where.

use thiserror::Error;

use tilewright_layout::NotationError;

/// A text that is no tile program; its author's fault.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{line}:{column}: {message}{}", hint.as_ref().map(|hint| format!("; {hint}")).unwrap_or_default())]
pub struct TextError {
    /// The byte of the text.
    pub at: usize,
    /// Its line, from one.
    pub line: usize,
    /// The character of that line, from one.
    pub column: usize,
    /// What was found, what was expected.
    pub message: String,
    /// What may have been meant.
    pub hint: Option<String>,
}

impl TextError {
    /// The error at a byte of a text.
    #[must_use]
    pub fn new(text: &str, at: usize, message: impl Into<String>) -> Self {
        NotationError::new(text, at, message).into()
    }

    /// The same, with what may have been meant.
    #[must_use]
    pub fn with_hint(self, hint: impl Into<String>) -> Self {
        Self { hint: Some(hint.into()), ..self }
    }
}

impl From<NotationError> for TextError {
    fn from(error: NotationError) -> Self {
        let NotationError { at, line, column, message } = error;
        Self { at, line, column, message, hint: None }
    }
}
