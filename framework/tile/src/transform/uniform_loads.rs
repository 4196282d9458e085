//! Loads once what all elements of a tensor load from one address.

use super::{IrCloner, Rewrite, Rewritten, each_function, rewrite_function};
use crate::axis_info::{AxisInfo, AxisInfoMap};
use crate::op::Dialects;
use crate::op::name::{arith, tt};
use crate::{Attribute, FunctionBody, Op, TileModule, TileType, TileViolation, Value, ValueOrigin, Values};

/// Integer operations that can give different operands equal results.
const MERGING: [&str; 5] = [arith::DIVSI, arith::DIVUI, arith::SHRSI, arith::SHRUI, arith::ANDI];

/// Replaces a load whose elements have one address and one mask by a scalar load and a splat of its result, as for the
/// scale of a block of columns whose numbers are divided by the block's size.
///
/// Each lane then loads once, and no layout conversion follows. Tensors with layouts, and volatile loads, stay.
/// Operations that lose their use stay for [`remove_unused_operations`](super::remove_unused_operations).
///
/// # Errors
/// A [`TileViolation`] if the dialects have no `tt.splat` or `arith.constant`.
pub fn load_uniform_addresses_once(module: &TileModule, dialects: &Dialects) -> Result<TileModule, TileViolation> {
    each_function(module, |function| {
        let Some(body) = &function.body else { return Ok(function.clone()) };
        let mut candidates: Vec<Op> =
            body.walk_region(body.root()).into_iter().filter(|&op| is_candidate(body, op)).collect();
        if !candidates.is_empty() {
            let axis_info = AxisInfoMap::analyze(function);
            let is_uniform =
                |value| axis_info.get_proven(value).is_some_and(AxisInfo::is_uniform) || is_splat(body, value);
            candidates.retain(|&op| body.op(op).operands.iter().all(|&value| is_uniform(value)));
        }
        if candidates.is_empty() {
            return Ok(function.clone());
        }
        rewrite_function(function, dialects, &mut LoadOnce { loads: candidates })
    })
}

/// Whether an operation loads a tensor whose first address and mask can be computed by scalar operations and may be
/// those of all elements.
fn is_candidate(body: &FunctionBody, op: Op) -> bool {
    let operation = body.op(op);
    let result = operation.results.first().filter(|_| operation.name() == tt::LOAD);
    let tensor = result.and_then(|&result| body.value_type(result).as_tensor());
    let has_several = tensor.is_some_and(|tensor| tensor.layout.is_none() && tensor.shape.iter().any(|&size| size > 1));
    let is_volatile = operation.attributes.get("isVolatile") == Some(&Attribute::Bool(true));
    has_several && !is_volatile && operation.operands.iter().all(|&value| may_be_uniform(body, value, false))
}

/// Whether [`emit_first_element`] can compute the first element of a value, and the others may equal it: a range of
/// numbers only counts below an operation that can make them equal (`is_merged`).
fn may_be_uniform(body: &FunctionBody, value: Value, is_merged: bool) -> bool {
    if body.value_type(value).shape().is_none() {
        return true;
    }
    let ValueOrigin::Result(op, _) = body.value_origin(value) else { return false };
    let operation = body.op(op);
    match operation.name() {
        tt::MAKE_RANGE => is_merged,
        arith::CONSTANT => true,
        tt::SPLAT | tt::EXPAND_DIMS | tt::BROADCAST => may_be_uniform(body, operation.operands[0], is_merged),
        name if is_elementwise(body, op) => {
            let is_merged = is_merged || MERGING.contains(&name);
            operation.operands.iter().all(|&operand| may_be_uniform(body, operand, is_merged))
        }
        _ => false,
    }
}

/// Whether a value is a constant or splat with equal elements, of any type.
fn is_splat(body: &FunctionBody, value: Value) -> bool {
    let ValueOrigin::Result(op, _) = body.value_origin(value) else { return false };
    let operation = body.op(op);
    match (operation.name(), body.constant_attribute(value)) {
        (tt::SPLAT, _) => true,
        (tt::EXPAND_DIMS | tt::BROADCAST, _) => is_splat(body, operation.operands[0]),
        (_, Some(Attribute::Dense(dense))) => dense.elements.len() == 1,
        _ => false,
    }
}

fn is_elementwise(body: &FunctionBody, op: Op) -> bool {
    let (operation, traits) = (body.op(op), &body.op(op).definition.traits);
    traits.pure && traits.elementwise && operation.regions.is_empty() && operation.results.len() == 1
}

struct LoadOnce {
    loads: Vec<Op>,
}

impl Rewrite for LoadOnce {
    fn rewrite(&mut self, op: Op, cloner: &mut IrCloner<'_, '_, '_>) -> Rewritten<bool> {
        if !self.loads.contains(&op) {
            return Ok(false);
        }
        let operation = cloner.from.op(op);
        let (operands, result) = (operation.operands.clone(), operation.results[0]);
        let ty = cloner.from.value_type(result).clone();
        let first = operands.iter().map(|&value| emit_first_element(cloner, value)).collect::<Rewritten<Values>>()?;
        let loaded = clone_with_type(cloner, op, first, ty.element().clone());
        let splat = cloner.to.unary(tt::SPLAT, loaded, ty)?;
        cloner.bind(result, splat);
        Ok(true)
    }
}

/// Emits the first element of a value for which [`may_be_uniform`] is true; a scalar is its own first element.
fn emit_first_element(cloner: &mut IrCloner<'_, '_, '_>, value: Value) -> Rewritten<Value> {
    let body = cloner.from;
    let ty = body.value_type(value);
    let (Some(_), ValueOrigin::Result(op, _)) = (ty.shape(), body.value_origin(value)) else {
        return Ok(cloner.clone_of(value));
    };
    let (operation, element) = (body.op(op), ty.element().clone());
    match operation.name() {
        tt::MAKE_RANGE => {
            let start = operation.attributes.get("start").and_then(Attribute::as_integer).unwrap_or_default();
            Ok(cloner.to.integer(start, &element)?)
        }
        arith::CONSTANT => {
            let bits = match body.constant_attribute(value) {
                Some(Attribute::Dense(dense)) => dense.elements.first().copied().unwrap_or_default(),
                _ => 0,
            };
            Ok(cloner.to.add_constant(Attribute::of_bits(bits, element))?)
        }
        tt::SPLAT | tt::EXPAND_DIMS | tt::BROADCAST => emit_first_element(cloner, operation.operands[0]),
        _ => {
            let operands = operation.operands.iter().map(|&operand| emit_first_element(cloner, operand));
            let operands = operands.collect::<Rewritten<Values>>()?;
            Ok(clone_with_type(cloner, op, operands, element))
        }
    }
}

/// Clones an operation with other operands, and one result of another type.
fn clone_with_type(cloner: &mut IrCloner<'_, '_, '_>, op: Op, operands: Values, ty: TileType) -> Value {
    let mut clone = cloner.from.op(op).clone();
    clone.operands = operands;
    clone.location = clone.location.called_from(&cloner.call);
    let block = cloner.to.block();
    let body = cloner.to.body_mut();
    let new_op = body.add_op(clone, vec![ty]);
    body.append_op(block, new_op);
    body.op(new_op).results[0]
}
