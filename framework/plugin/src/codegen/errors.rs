//! Errors of code generation, and the places in front of them.

use tilewright_kernel::{Kernel, Statement};

use crate::CompileError;

/// Results of a statement that a message shows.
const SHOWN_RESULTS: usize = 4;

/// A module that breaks a rule: the caller's fault.
pub fn invalid(message: impl Into<String>) -> CompileError {
    CompileError::Invalid(message.into())
}

/// An error for a kernel that the target cannot execute.
pub fn unsupported(message: impl Into<String>) -> CompileError {
    CompileError::Unsupported(message.into())
}

/// The error with the kernel's name in front.
#[must_use]
pub fn in_kernel(error: CompileError, kernel: &Kernel) -> CompileError {
    at(error, &format!("kernel `{}`", kernel.name))
}

/// The error with the statement in front: its results, and the name of its operation.
pub(super) fn in_statement(error: CompileError, statement: &Statement) -> CompileError {
    let shown = statement.results.iter().take(SHOWN_RESULTS).map(|(value, ty)| format!("%{}: {ty}", value.0));
    let mut results = shown.collect::<Vec<_>>().join(", ");
    if statement.results.len() > SHOWN_RESULTS {
        results.push_str(", ...");
    }
    if !results.is_empty() {
        results.push_str(" = ");
    }
    at(error, &format!("`{results}{}`", statement.op.name()))
}

fn at(error: CompileError, place: &str) -> CompileError {
    match error {
        CompileError::Invalid(message) => CompileError::Invalid(format!("{place}: {message}")),
        CompileError::Unsupported(message) => CompileError::Unsupported(format!("{place}: {message}")),
        CompileError::Backend(message) => CompileError::Backend(format!("{place}: {message}")),
        other => other,
    }
}
