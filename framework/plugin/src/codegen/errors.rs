//! Constructors of errors of code generation, which name the kernel or statement in front of the message.

use tilewright_kernel::{Kernel, Statement};

use crate::CompileError;

/// Max number of a statement's results that an error message names.
const SHOWN_RESULTS: usize = 4;

/// Returns the error for a module that violates a rule; the caller's fault.
pub fn invalid_module_error(message: impl Into<String>) -> CompileError {
    CompileError::Invalid(message.into())
}

/// Returns the error for a kernel that the target cannot execute.
pub fn unsupported_kernel_error(message: impl Into<String>) -> CompileError {
    CompileError::Unsupported(message.into())
}

/// Puts the kernel's name in front of the error's message.
#[must_use]
pub fn prefix_error_with_kernel_name(error: CompileError, kernel: &Kernel) -> CompileError {
    at(error, &format!("kernel `{}`", kernel.name))
}

/// Puts a statement's results and the name of its operation in front of the error's message.
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

fn at(error: CompileError, location: &str) -> CompileError {
    match error {
        CompileError::Invalid(message) => CompileError::Invalid(format!("{location}: {message}")),
        CompileError::Unsupported(message) => CompileError::Unsupported(format!("{location}: {message}")),
        CompileError::Backend(message) => CompileError::Backend(format!("{location}: {message}")),
        other => other,
    }
}
