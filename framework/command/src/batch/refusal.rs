//! Errors of batch requests.

use std::fmt::Display;

use serde_json::{Value as Json, json};

use tilewright::SessionError;
use tilewright::operations::LayoutOperationError;
use tilewright_layout::FamilyError;
use tilewright_plan::movement::MovementError;
use tilewright_plugin::CompileError;
use tilewright_target::TargetCatalogueError;

use crate::limits::shorten;

/// The error that answers a batch request.
pub struct BatchError {
    /// The error's code, one of `bad_json`, `bad_request`, `unknown_op`, `unknown_target`, `bad_layout`, `undefined`,
    /// `unsupported`, `failed`.
    code: &'static str,
    message: String,
}

impl BatchError {
    pub fn new(code: &'static str, message: impl Display) -> Self {
        Self { code, message: message.to_string() }
    }

    /// Creates the error that a field is missing or its value invalid.
    pub fn invalid_field(message: impl Display) -> Self {
        Self::new("bad_request", message)
    }

    /// Creates the error that the layout in the field `name` is invalid.
    pub fn invalid_layout(name: &str, error: impl Display) -> Self {
        Self::new("bad_layout", format_args!("`{name}`: {error}"))
    }

    pub fn to_json(&self) -> Json {
        json!({ "code": self.code, "message": shorten(&self.message) })
    }
}

impl From<LayoutOperationError> for BatchError {
    fn from(error: LayoutOperationError) -> Self {
        let code = match &error {
            LayoutOperationError::Unknown { .. } => "unknown_op",
            LayoutOperationError::Inputs(_) => "bad_request",
            LayoutOperationError::Layout(_) => "bad_layout",
            LayoutOperationError::Undefined(_) => "undefined",
            _ => "failed",
        };
        Self::new(code, error)
    }
}

impl From<SessionError> for BatchError {
    fn from(error: SessionError) -> Self {
        let code = match error {
            SessionError::Target(error) => return error.into(),
            SessionError::Movement(error) => return error.into(),
            SessionError::Family(FamilyError::Plugin(_)) | SessionError::Plugin(_) => "failed",
            SessionError::Family(_)
            | SessionError::NotDistributed(_)
            | SessionError::Cute(_)
            | SessionError::OtherElements { .. } => "bad_layout",
            SessionError::Compile(CompileError::Unsupported(_)) => "unsupported",
            _ => "failed",
        };
        Self::new(code, error)
    }
}

impl From<TargetCatalogueError> for BatchError {
    fn from(error: TargetCatalogueError) -> Self {
        Self::new("unknown_target", error)
    }
}

impl From<MovementError> for BatchError {
    fn from(error: MovementError) -> Self {
        let code = match error {
            MovementError::Impossible { .. } => "unsupported",
            _ => "bad_request",
        };
        Self::new(code, error)
    }
}
