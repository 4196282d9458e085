//! Verifies a module.

use super::dominance;
use super::shapes;
use crate::text::TextError;
use crate::{Body, Function, Module, Op, Operation, Type, Value};
use std::sync::Arc;
use thiserror::Error;

/// A rule that a program breaks; the fault of whoever made the program.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("in `@{function}`: `{operation}`: {message}")]
pub struct Violation {
    /// The function.
    pub function: Arc<str>,
    /// The name of the operation, or of the function itself.
    pub operation: Arc<str>,
    /// Where the operation stands in the text that it was read from, in bytes.
    pub at: Option<u32>,
    /// The rule, and what was found.
    pub message: String,
}

impl Violation {
    /// What is wrong with an operation of a function.
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

/// Checks every function.
///
/// # Errors
/// The first [`Violation`].
pub fn verify(module: &Module) -> Result<(), Violation> {
    module.functions.iter().try_for_each(|function| verify_function(module, function))
}

fn verify_function(module: &Module, function: &Function) -> Result<(), Violation> {
    let Some(body) = &function.body else { return Ok(()) };
    let wrong = |op: Option<&Operation>, message: String| Violation {
        function: Arc::clone(&function.name),
        operation: op.map_or_else(|| Arc::from("tt.func"), |op| Arc::clone(&op.definition.name)),
        at: op.map_or(function.location.at, |op| op.location.at),
        message,
    };
    let entry = body.blocks(body.root()).first().copied();
    let Some(entry) = entry else { return Err(wrong(None, "its body has no block".to_owned())) };
    let arguments = body.arguments(entry).iter().map(|value| body.ty(*value));
    if !arguments.eq(&function.signature.arguments) {
        return Err(wrong(None, "the arguments of its first block are not its own".to_owned()));
    }
    for argument in &function.signature.arguments {
        shapes::sized(argument).map_err(|message| wrong(None, message))?;
    }
    if let Err((op, message)) = dominance::check(body) {
        return Err(wrong(op.map(|op| body.op(op)), message));
    }
    for op in body.walk(body.root()) {
        let check = Check { module, function, body, op, operation: body.op(op) };
        check.all().map_err(|message| wrong(Some(check.operation), message))?;
    }
    Ok(())
}

/// One operation, and what is around it.
pub(super) struct Check<'a> {
    pub(super) module: &'a Module,
    pub(super) function: &'a Function,
    pub(super) body: &'a Body,
    pub(super) op: Op,
    pub(super) operation: &'a Operation,
}

/// What is checked; the rule in words where it is broken.
pub(super) type Checked = Result<(), String>;

impl<'a> Check<'a> {
    fn all(&self) -> Checked {
        self.row()?;
        self.casts()?;
        self.shapes()?;
        self.products()?;
        self.explicit()?;
        self.control()
    }

    pub(super) fn ty(&self, value: Value) -> &'a Type {
        self.body.ty(value)
    }

    /// The type of the first operand, or result, of a group.
    pub(super) fn operand_type(&self, group: &str) -> Option<&'a Type> {
        self.body.operand(self.op, group).map(|value| self.ty(value))
    }

    pub(super) fn result_type(&self) -> Option<&'a Type> {
        self.operation.results.first().map(|value| self.ty(*value))
    }

    pub(super) fn types(&self, values: &[Value]) -> Vec<&'a Type> {
        values.iter().map(|value| self.ty(*value)).collect()
    }

    /// An integer attribute.
    pub(super) fn integer(&self, name: &str) -> Option<i64> {
        self.operation.attributes.get(name).and_then(super::super::Attribute::as_integer)
    }
}

/// Fails with a message where the rule does not hold.
pub(super) fn ensure(holds: bool, message: impl FnOnce() -> String) -> Checked {
    if holds { Ok(()) } else { Err(message()) }
}

/// Types in a message.
pub(super) fn listed(types: &[&Type]) -> String {
    let types: Vec<_> = types.iter().map(|ty| format!("`{ty}`")).collect();
    if types.is_empty() { "nothing".to_owned() } else { types.join(", ") }
}
