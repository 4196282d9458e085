//! Errors of rewrites, with the operation at which they are reported.

use std::sync::Arc;

use crate::{BuildError, Function, Op, Operation, TileViolation};

/// The error of a rewrite of one operation.
#[derive(Debug)]
pub(crate) enum RewriteError {
    /// A replacement operation cannot be built.
    Build(BuildError),
    /// The program violates a rule.
    Violation(TileViolation),
}

/// The result of a rewrite of one operation, or its error.
pub(crate) type Rewritten<T> = Result<T, RewriteError>;

impl From<BuildError> for RewriteError {
    fn from(error: BuildError) -> Self {
        Self::Build(error)
    }
}

impl From<TileViolation> for RewriteError {
    fn from(violation: TileViolation) -> Self {
        Self::Violation(violation)
    }
}

impl RewriteError {
    /// Converts the error to a violation that is reported at the operation that is being rewritten.
    pub(super) fn at(self, function: &Function, operation: &Operation) -> TileViolation {
        match self {
            Self::Build(error) => TileViolation::of(function, operation, error.to_string()),
            Self::Violation(violation) => violation,
        }
    }
}

/// Creates the violation of a rule at an operation of a function.
pub(super) fn violation_of(function: &Function, op: Op, message: impl Into<String>) -> TileViolation {
    match &function.body {
        Some(body) => TileViolation::of(function, body.op(op), message),
        None => TileViolation {
            function: Arc::clone(&function.name),
            operation: Arc::from("tt.func"),
            at: None,
            message: message.into(),
        },
    }
}
