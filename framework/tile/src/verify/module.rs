//! Verifies a module.

use super::check::{CheckResult, OpContext};
use super::context::Context;
use super::layouts::{check_attribute, check_type};
use super::{TileViolation, dominance, shapes};
use crate::{Attribute, Function, Operation, TileModule};
use std::sync::Arc;
use tilewright_layout::Families;
use tilewright_layout::families::NeutralFamilies;

/// Verifies every function of a module by the rules of its operations and those of Triton's verifier.
///
/// Layouts of families that belong to vendors are not compared; see [`verify_module_with_families`].
///
/// # Errors
/// The first [`TileViolation`].
pub fn verify_module(module: &TileModule) -> Result<(), TileViolation> {
    verify_module_with_families(module, &NeutralFamilies)
}

/// Verifies every function of a module as [`verify_module`] does, with `families` to build the layouts that rules
/// compare.
///
/// If `families` do not build a layout, the rules that compare its bases accept it.
///
/// # Errors
/// The first [`TileViolation`].
pub fn verify_module_with_families(module: &TileModule, families: &dyn Families) -> Result<(), TileViolation> {
    module.aliases.iter().try_for_each(|alias| verify_alias(module, alias))?;
    module.functions.iter().try_for_each(|function| verify_function(module, function, Some(families)))
}

/// Verifies every function of a module that transformations have changed, without the rules of Triton's verifier.
///
/// # Errors
/// The first [`TileViolation`].
pub fn verify_transformed_module(module: &TileModule) -> Result<(), TileViolation> {
    module.functions.iter().try_for_each(|function| verify_function(module, function, None))
}

/// Verifies a layout or type that has an alias in the module's text; no operation need use it.
fn verify_alias(module: &TileModule, alias: &Attribute) -> Result<(), TileViolation> {
    let checked = match alias {
        Attribute::Layout(layout) => check_attribute(layout, &module.rules),
        Attribute::Type(ty) => check_type(ty, &module.rules),
        _ => Ok(()),
    };
    let wrong = |message| TileViolation { function: "".into(), operation: "module".into(), at: None, message };
    checked.map_err(wrong)
}

/// Verifies a function. With `families`, it is checked as a program that a user wrote; without, as the result of a
/// transformation.
fn verify_function(
    module: &TileModule,
    function: &Function,
    families: Option<&dyn Families>,
) -> Result<(), TileViolation> {
    let Some(body) = &function.body else { return Ok(()) };
    let wrong = |op: Option<&Operation>, message: String| TileViolation {
        function: Arc::clone(&function.name),
        operation: op.map_or_else(|| Arc::from("tt.func"), |op| Arc::clone(&op.definition.name)),
        at: op.map_or(function.location.at, |op| op.location.at),
        message,
    };
    let entry = body.blocks(body.root()).first().copied();
    let Some(entry) = entry else { return Err(wrong(None, "its body has no block".to_owned())) };
    let arguments = body.arguments(entry).iter().map(|value| body.value_type(*value));
    if !arguments.eq(&function.signature.arguments) {
        return Err(wrong(None, "the arguments of its first block differ from its own".to_owned()));
    }
    for argument in &function.signature.arguments {
        shapes::limited(argument).map_err(|message| wrong(None, message))?;
    }
    if let Err((op, message)) = dominance::check(body) {
        return Err(wrong(op.map(|op| body.op(op)), message));
    }
    let context = Context::new(module, function, body, families.unwrap_or(&NeutralFamilies));
    if families.is_some() {
        context.check_function(function, &module.rules).map_err(|message| wrong(None, message))?;
    }
    for op in body.walk_region(body.root()) {
        let check = OpContext { module, function, body, op, operation: body.op(op), context: &context };
        let result = check.all().and_then(|()| if families.is_some() { check.program() } else { Ok(()) });
        result.map_err(|message| wrong(Some(check.operation), message))?;
    }
    Ok(())
}

impl OpContext<'_> {
    fn all(&self) -> CheckResult {
        self.row()?;
        self.casts()?;
        self.shapes()?;
        self.check_dots()?;
        self.explicit()?;
        self.control()
    }

    /// Checks the rules of Triton's verifier, which a program as written must follow.
    fn program(&self) -> CheckResult {
        self.element_types()?;
        self.nesting()?;
        self.attribute_places()?;
        self.layouts()?;
        self.conditions()
    }
}
