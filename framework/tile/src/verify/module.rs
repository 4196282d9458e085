//! Verifies a module.

use super::check::{Check, Checked};
use super::{TileViolation, dominance, shapes};
use crate::{Function, Operation, TileModule};
use std::sync::Arc;

/// Verifies every function.
///
/// # Errors
/// The first [`TileViolation`].
pub fn verify(module: &TileModule) -> Result<(), TileViolation> {
    module.functions.iter().try_for_each(|function| verify_function(module, function))
}

fn verify_function(module: &TileModule, function: &Function) -> Result<(), TileViolation> {
    let Some(body) = &function.body else { return Ok(()) };
    let wrong = |op: Option<&Operation>, message: String| TileViolation {
        function: Arc::clone(&function.name),
        operation: op.map_or_else(|| Arc::from("tt.func"), |op| Arc::clone(&op.definition.name)),
        at: op.map_or(function.location.at, |op| op.location.at),
        message,
    };
    let entry = body.blocks(body.root()).first().copied();
    let Some(entry) = entry else { return Err(wrong(None, "its body has no block".to_owned())) };
    let arguments = body.arguments(entry).iter().map(|value| body.ty(*value));
    if !arguments.eq(&function.signature.arguments) {
        return Err(wrong(None, "the arguments of its first block differ from its own".to_owned()));
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

impl Check<'_> {
    fn all(&self) -> Checked {
        self.row()?;
        self.casts()?;
        self.shapes()?;
        self.check_dots()?;
        self.explicit()?;
        self.control()
    }
}
