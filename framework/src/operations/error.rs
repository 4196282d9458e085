//! Errors of named operations.

use thiserror::Error;

use tilewright_layout::similar_name_hint;

/// The reason why a named operation has no result; always the caller's fault.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum LayoutOperationError {
    /// No operation has the given name.
    #[error("unknown operation `{name}`{}", similar_name_hint(.known, .name))]
    Unknown {
        /// The name that the caller gave.
        name: String,
        /// The names of all operations.
        known: Vec<&'static str>,
    },
    /// An input is missing or of the wrong type.
    #[error("{0}")]
    Inputs(String),
    /// An input is not a layout, although it should be.
    #[error("{0}")]
    Layout(String),
    /// The operation is undefined on these well-formed inputs.
    #[error("{0}")]
    Undefined(String),
}

/// Makes the error of a missing or malformed input.
pub(super) fn wrong(message: impl Into<String>) -> LayoutOperationError {
    LayoutOperationError::Inputs(message.into())
}
