//! Replaces loads by the stored values: from shared memory by layout conversions, from global memory as they are.

use std::collections::HashMap;

use super::allocations::{Allocation, Allocations};
use super::{IrCloner, Rewrite, Rewritten, each_function, rewrite_function};
use crate::op::Dialects;
use crate::op::name::{tt, ttg};
use crate::{Attribute, FunctionBody, Op, TileModule, TileViolation, Value, ValueOrigin};

/// Replaces loads of a tensor in shared memory that was stored earlier in the same block, with no other store between.
///
/// If all readers of the allocation are such loads, they become layout conversions. Otherwise, only loads in the layout
/// of the stored value are replaced, since the store remains.
///
/// Loads of global memory through the pointers of the last store in their block are replaced too. A warp with a replica
/// of an element would load it without a barrier since another warp stored it.
///
/// # Errors
/// A [`TileViolation`] if the dialects have no layout conversion.
pub fn forward_stores(module: &TileModule, dialects: &Dialects) -> Result<TileModule, TileViolation> {
    each_function(module, |function| {
        let Some(body) = &function.body else { return Ok(function.clone()) };
        let mut forward = Forward { stored: forwarded_from_global_memory(body) };
        let allocations = Allocations::of(body);
        for allocation in allocations.iter() {
            forward.stored.extend(forwarded(body, allocation, &allocations));
        }
        if forward.stored.is_empty() {
            Ok(function.clone())
        } else {
            rewrite_function(function, dialects, &mut forward)
        }
    })
}

/// The rewrite that replaces loads from shared memory: for each, the stored value that it would load.
struct Forward {
    stored: HashMap<Op, Value>,
}

impl Rewrite for Forward {
    fn rewrite(&mut self, op: Op, cloner: &mut IrCloner<'_, '_, '_>) -> Rewritten<bool> {
        let Some(&stored) = self.stored.get(&op) else { return Ok(false) };
        let Some(&result) = cloner.from.op(op).results.first() else { return Ok(false) };
        let (value, ty) = (cloner.clone_of(stored), cloner.from.value_type(result).clone());
        let is_same = *cloner.from.value_type(stored) == ty;
        let value = if is_same { value } else { cloner.to.unary(ttg::CONVERT_LAYOUT, value, ty)? };
        cloner.bind(result, value);
        Ok(true)
    }
}

/// The loads of global memory that can be replaced, each with the value that replaces it.
fn forwarded_from_global_memory(body: &FunctionBody) -> HashMap<Op, Value> {
    let mut found = HashMap::new();
    for block in body.all_blocks() {
        let mut last_store = None;
        for &op in body.ops(block) {
            let operation = body.op(op);
            match operation.name() {
                tt::STORE => last_store = Some(op),
                tt::LOAD => found.extend(last_store.and_then(|store| stored_value(body, store, op)).map(|of| (op, of))),
                _ if is_without_effect(body, op) => {}
                _ => last_store = None,
            }
        }
    }
    found
}

/// Whether an operation and those nested in it are pure, or loads of global memory.
fn is_without_effect(body: &FunctionBody, op: Op) -> bool {
    body.op_and_nested_ops(op).iter().all(|&inner| {
        let operation = body.op(inner);
        operation.definition.traits.pure || operation.name() == tt::LOAD || !operation.regions.is_empty()
    })
}

/// Returns the value that a load reads if `store` was the last store before it; `None` unless that is known for all
/// elements that the load defines.
fn stored_value(body: &FunctionBody, store: Op, load: Op) -> Option<Value> {
    let (store, load) = (body.op(store), body.op(load));
    let value = match (&store.operands[..], &load.operands[..]) {
        (&[to, value], &[from] | &[from, _]) if to == from => value,
        (&[to, value, stored], &[from, loaded]) if to == from && stored == loaded => value,
        _ => return None,
    };
    let is_volatile = load.attributes.get("isVolatile") == Some(&Attribute::Bool(true));
    let is_same = body.value_type(value) == body.value_type(*load.results.first()?);
    (is_same && !is_volatile).then_some(value)
}

/// The loads of an allocation that can be replaced, each with the value that replaces it.
fn forwarded(body: &FunctionBody, allocation: &Allocation, allocations: &Allocations) -> Vec<(Op, Value)> {
    let search = |&load: &Op| {
        let stored = Search { body, allocation, allocations }.stored(load)?;
        let ty = |value: Value| body.value_type(value).as_tensor();
        let (from, to) = (ty(stored)?, ty(*body.op(load).results.first()?)?);
        let have_layouts = from.layout.is_some() && to.layout.is_some();
        (have_layouts && from.shape == to.shape && from.element == to.element).then_some((load, stored))
    };
    let found: Vec<(Op, Value)> = allocation.readers.iter().filter_map(search).collect();
    if found.len() == allocation.readers.len() {
        return found;
    }
    let is_same = |&(load, stored): &(Op, Value)| {
        body.op(load).results.first().is_some_and(|&result| body.value_type(result) == body.value_type(stored))
    };
    found.into_iter().filter(is_same).collect()
}

struct Search<'a> {
    body: &'a FunctionBody,
    allocation: &'a Allocation,
    allocations: &'a Allocations,
}

impl Search<'_> {
    /// The value that a load reads; `None` unless a store before it in its block is known to have written it last.
    fn stored(&self, load: Op) -> Option<Value> {
        let operation = self.body.op(load);
        let source = *operation.operands.first().filter(|_| operation.name() == ttg::LOCAL_LOAD)?;
        let ops = self.body.ops(self.body.block_of(load)?);
        let at = ops.iter().position(|&op| op == load)?;
        for &op in ops[..at].iter().rev() {
            let operation = self.body.op(op);
            match (operation.name(), &operation.operands[..]) {
                (ttg::LOCAL_ALLOC, &[stored]) if op == self.allocation.op => {
                    return (operation.results.first() == Some(&source)).then_some(stored);
                }
                (ttg::LOCAL_STORE, &[stored, memory]) if self.allocations.is_view(memory, self.allocation) => {
                    if self.is_same_view(memory, source) {
                        return Some(stored);
                    }
                    if !self.is_other_index(memory, source) {
                        return None;
                    }
                }
                _ if self.body.op_and_nested_ops(op).iter().any(|inner| self.allocation.writers.contains(inner)) => {
                    return None;
                }
                _ => {}
            }
        }
        None
    }

    /// Whether two values are known to be equal: one value, equal constants, or views with equal operands and
    /// attributes.
    fn is_same_view(&self, a: Value, b: Value) -> bool {
        if a == b {
            return true;
        }
        let constants = (self.body.constant_integer(a), self.body.constant_integer(b));
        if let (Some(a), Some(b)) = constants {
            return a == b;
        }
        let (ValueOrigin::Result(first, _), ValueOrigin::Result(second, _)) =
            (self.body.value_origin(a), self.body.value_origin(b))
        else {
            return false;
        };
        let (one, other) = (self.body.op(first), self.body.op(second));
        let is_view = |value: Value| self.allocations.is_view(value, self.allocation);
        is_view(a)
            && is_view(b)
            && one.name() == other.name()
            && one.name() != ttg::LOCAL_ALLOC
            && one.attributes == other.attributes
            && self.body.value_type(a) == self.body.value_type(b)
            && one.operands.len() == other.operands.len()
            && one.operands.iter().zip(&other.operands).all(|(&a, &b)| self.is_same_view(a, b))
    }

    /// Whether two values are different buffers of one value in memory, with different constant indices.
    fn is_other_index(&self, a: Value, b: Value) -> bool {
        let indexed = |value: Value| match self.body.value_origin(value) {
            ValueOrigin::Result(op, _) if self.body.op(op).name() == ttg::MEMDESC_INDEX => {
                let operands = &self.body.op(op).operands;
                Some((*operands.first()?, self.body.constant_integer(*operands.get(1)?)?))
            }
            _ => None,
        };
        indexed(a).zip(indexed(b)).is_some_and(|((one, at), (other, index))| one == other && at != index)
    }
}
