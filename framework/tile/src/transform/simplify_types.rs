//! Replaces types that the text of a program may have but later transformations do not accept: open layouts of Triton's
//! Gluon, which are still to be chosen, and tensors of rank 0.

use std::collections::HashMap;
use std::sync::Arc;

use crate::op::Dialects;
use crate::op::name::{gluon, tt, ttg};
use crate::{
    Attribute, Attributes, DenseElements, Function, FunctionBody, LayoutAttribute, TileModule, TileType, Value,
};

/// The families of layouts that are still to be chosen: `#gluon.auto_encoding`, `#gluon.coalesced_encoding`.
const OPEN_LAYOUTS: [&str; 2] = ["auto_encoding", "coalesced_encoding"];

/// The operations that keep all elements and change the shape or the layout.
const RESHAPES: [&str; 7] =
    [tt::SPLAT, tt::UNSPLAT, tt::RESHAPE, tt::EXPAND_DIMS, tt::BROADCAST, tt::TRANS, ttg::CONVERT_LAYOUT];

/// Replaces open layouts and tensors of rank 0 by types that later transformations accept.
///
/// A tensor in an open layout gets no layout, and layout assignment chooses it; `gluon.set_auto_layout` then converts
/// it to the layout that it sets. A tensor of rank 0 becomes its element.
pub fn simplify_types(module: &mut TileModule, dialects: &Dialects) {
    module.functions.iter_mut().for_each(|function| of_function(function, dialects));
}

fn of_function(function: &mut Function, dialects: &Dialects) {
    let signature = &mut function.signature;
    signature.arguments.iter_mut().chain(&mut signature.results).for_each(|ty| *ty = simple(ty));
    if let Some(body) = &mut function.body {
        of_body(body, dialects);
    }
}

fn of_body(body: &mut FunctionBody, dialects: &Dialects) {
    for value in body.values() {
        let ty = simple(body.value_type(value));
        body.set_type(value, ty);
    }
    for op in body.walk_region(body.root()) {
        let operation = body.op_mut(op);
        if let Some(constant) = operation.attributes.get("value").and_then(simple_constant) {
            operation.attributes.set("value", constant);
        }
        if operation.name() == gluon::SET_AUTO_LAYOUT
            && let Some(conversion) = dialects.find_definition(ttg::CONVERT_LAYOUT)
        {
            operation.definition = Arc::clone(conversion);
        }
    }
    simplify_reshapes(body, dialects);
}

/// Replaces operations on the shape of tensors of rank 0, which now are scalars: a scalar becomes a tensor by
/// `tt.splat`, a tensor a scalar by `tt.unsplat`, and uses of a scalar that became a scalar use its operand.
fn simplify_reshapes(body: &mut FunctionBody, dialects: &Dialects) {
    let mut replaced = HashMap::<Value, Value>::new();
    for op in body.walk_region(body.root()) {
        for operand in &mut body.op_mut(op).operands {
            *operand = replaced.get(operand).copied().unwrap_or(*operand);
        }
        let operation = body.op(op);
        let ([operand], [result]) = (&operation.operands[..], &operation.results[..]) else { continue };
        let (operand, result) = (*operand, *result);
        if !RESHAPES.contains(&operation.name()) {
            continue;
        }
        let are_tensors = [operand, result].map(|value| body.value_type(value).as_tensor().is_some());
        let name = match are_tensors {
            [false, false] => {
                replaced.insert(result, operand);
                continue;
            }
            [false, true] => tt::SPLAT,
            [true, false] => tt::UNSPLAT,
            [true, true] => continue,
        };
        if let Some(definition) =
            dialects.find_definition(name).filter(|definition| *definition.name != *body.op(op).name())
        {
            let operation = body.op_mut(op);
            operation.definition = Arc::clone(definition);
            operation.attributes = Attributes::default();
        }
    }
}

fn simple(ty: &TileType) -> TileType {
    match ty {
        TileType::Tensor(tensor) if tensor.shape.is_empty() => tensor.element.clone(),
        TileType::Tensor(tensor) if tensor.layout.as_ref().is_some_and(is_open) => ty.with_layout(None),
        _ => ty.clone(),
    }
}

/// Whether the layout, or the parent of a slice, is still to be chosen.
fn is_open(layout: &LayoutAttribute) -> bool {
    let parents = std::iter::successors(Some(layout.spec()), |spec| spec.parent.as_deref());
    parents.map(|spec| spec.name.as_str()).any(|name| OPEN_LAYOUTS.contains(&name))
}

fn simple_constant(value: &Attribute) -> Option<Attribute> {
    let Attribute::Dense(DenseElements { ty, elements }) = value else { return None };
    match simple(ty) {
        ty @ TileType::Tensor(_) => Some(Attribute::Dense(DenseElements { ty, elements: Arc::clone(elements) })),
        TileType::BOOLEAN => elements.first().map(|bits| Attribute::Bool(bits & 1 == 1)),
        scalar => elements.first().map(|bits| Attribute::of_bits(*bits, scalar)),
    }
}
