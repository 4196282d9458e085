//! Replaces volatile loads by relaxed atomic loads. A program repeats a volatile load until another program stores what
//! it waits for; an ordinary load may be repeated from a cache, or not at all.

use super::{IrCloner, Rewrite, Rewritten, rewrite_functions_with};
use crate::op::Dialects;
use crate::op::name::tt;
use crate::{Attribute, FunctionBody, Op, TileModule, TileType, TileViolation};

/// Replaces each volatile `tt.load` by a relaxed `tt.atomic_load` of the system's scope, and a select of `other` where
/// its mask is false. Loads of elements of less than a byte or of pointers remain, for which no atomic load exists.
///
/// # Errors
/// A [`TileViolation`] if the dialects have no atomic load or no select.
pub fn replace_volatile_loads(module: &TileModule, dialects: &Dialects) -> Result<TileModule, TileViolation> {
    rewrite_functions_with(module, dialects, is_volatile, &mut VolatileLoads)
}

fn is_volatile(body: &FunctionBody, op: Op) -> bool {
    let operation = body.op(op);
    let is_marked = operation.attributes.get("isVolatile") == Some(&Attribute::Bool(true));
    let element = operation.results.first().map(|&result| body.value_type(result).element());
    let is_number = element.is_some_and(|element| {
        let is_scalar = matches!(element, TileType::Integer(..) | TileType::Float(_));
        is_scalar && element.element_bits().is_some_and(|bits| bits >= 8)
    });
    operation.name() == tt::LOAD && is_marked && is_number
}

struct VolatileLoads;

impl Rewrite for VolatileLoads {
    fn rewrite(&mut self, op: Op, cloner: &mut IrCloner<'_, '_, '_>) -> Rewritten<bool> {
        let from = cloner.from;
        let (true, Some(&result)) = (is_volatile(from, op), from.op(op).results.first()) else { return Ok(false) };
        let [pointer, mask, other] = ["ptr", "mask", "other"].map(|name| from.operand(op, name));
        let [pointer, mask, other] = [pointer, mask, other].map(|value| value.map(|value| cloner.clone_of(value)));
        let Some(pointer) = pointer else { return Ok(false) };
        let load = cloner.to.build_op(tt::ATOMIC_LOAD).operand(pointer).operands("mask", mask.as_slice());
        let load = load.attribute("sem", Attribute::Keyword("relaxed".into()));
        let load = load.attribute("scope", Attribute::Keyword("sys".into()));
        let mut loaded = load.result(from.value_type(result).clone()).value()?;
        // An atomic load is zero where its mask is false.
        let is_zero = from.operand(op, "other").is_some_and(|other| from.is_known_zero(other));
        if let (Some(mask), Some(other), false) = (mask, other, is_zero) {
            loaded = cloner.to.select(mask, loaded, other)?;
        }
        cloner.bind(result, loaded);
        Ok(true)
    }
}
