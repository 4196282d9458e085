//! Parts of tensors in shared memory: slices at constant offsets, and buffers that the program selects by an index.

use std::sync::Arc;

use super::expander::Expander;
use super::packed::is_narrow;
use crate::op::name::ttg;
use crate::transform::{IrCloner, Rewritten, violation};
use crate::{FunctionBody, MemDescType, Op, TileType, Value, ValueOrigin};

/// A box of elements of a tensor, by its first coordinates and its sizes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Region {
    first: Vec<u64>,
    sizes: Vec<u64>,
}

/// The operation that selects a part of memory, and the memory; `None` for other values.
fn source(body: &FunctionBody, value: Value) -> Option<(Op, Value)> {
    let ValueOrigin::Result(op, _) = body.value_origin(value) else { return None };
    let is_view = matches!(body.op(op).name(), ttg::MEMDESC_SUBSLICE | ttg::MEMDESC_INDEX);
    is_view.then(|| (op, body.op(op).operands[0]))
}

/// The memory that contains the part `value`; `value` if it is no part.
pub(super) fn full_tensor(body: &FunctionBody, value: Value) -> Value {
    source(body, value).map_or(value, |(_, source)| full_tensor(body, source))
}

/// Whether an operation only selects a part of memory.
pub(super) fn is_selection(body: &FunctionBody, op: Op) -> bool {
    body.op(op).results.first().is_some_and(|result| source(body, *result).is_some())
}

/// The elements of [`full_tensor`] that `value` has; `None` if the program selects it by an index.
pub(super) fn region(body: &FunctionBody, value: Value) -> Option<Region> {
    let sizes = body.value_type(value).shape()?.to_vec();
    let Some((op, source)) = source(body, value) else {
        return Some(Region { first: vec![0; sizes.len()], sizes });
    };
    let offsets = body.op(op).attributes.get("offsets")?.as_unsigned_integers()?;
    let first = region(body, source)?.first.iter().zip(&offsets).map(|(before, offset)| before + offset).collect();
    Some(Region { first, sizes })
}

/// Whether regions are disjoint and together have all elements of a tensor of this shape.
pub(super) fn cover(regions: &[Region], shape: &[u64]) -> bool {
    let elements = |sizes: &[u64]| sizes.iter().product::<u64>();
    let are_disjoint = |a: &Region, b: &Region| {
        let mut axes = a.first.iter().zip(&a.sizes).zip(b.first.iter().zip(&b.sizes));
        axes.any(|((first, size), (other, other_size))| first + size <= *other || other + other_size <= *first)
    };
    let mut pairs = regions.iter().enumerate().flat_map(|(at, a)| regions[..at].iter().map(move |b| (a, b)));
    regions.iter().map(|region| elements(&region.sizes)).sum::<u64>() == elements(shape)
        && pairs.all(|(a, b)| are_disjoint(a, b))
}

impl Expander<'_> {
    /// Records a part of a tensor in shared memory, whose view is emitted where it is used: the buffer of the current
    /// iteration is known there. Returns false for parts of other memory.
    pub(super) fn record_part(&mut self, op: Op, cloner: &IrCloner<'_, '_, '_>) -> Rewritten<bool> {
        let (source, result) = (cloner.from.op(op).operands[0], cloner.from.op(op).results[0]);
        let is_tensor = self.tensors.contains_key(&source) || self.deferred.contains_key(&source);
        if !is_tensor && !self.parts.contains_key(&source) {
            return Ok(false);
        }
        if is_narrow(cloner.from.value_type(source).element()) {
            return Err(violation(cloner, op, "bytes pack the elements of the tensor: copy all of it"));
        }
        self.parts.insert(result, op);
        Ok(true)
    }

    /// Emits the view of a part that the operation `part` selects; errors are reported at `op`.
    pub(super) fn view_of_part(&mut self, part: Op, op: Op, cloner: &mut IrCloner<'_, '_, '_>) -> Rewritten<Value> {
        let operation = cloner.from.op(part);
        let of = self.emit_buffer_view(operation.operands[0], op, cloner)?;
        let (Some(of_type), Some(ty)) =
            (cloner.to.ty(of).as_memory(), cloner.from.value_type(operation.results[0]).as_memory())
        else {
            return Err(violation(cloner, op, "a tensor in shared memory is expected"));
        };
        let allocation = match operation.name() {
            ttg::MEMDESC_SUBSLICE => Some(of_type.allocation.clone().unwrap_or_else(|| of_type.shape.clone())),
            _ => None,
        };
        let ty = MemDescType { shape: ty.shape.clone(), allocation, ..of_type.clone() };
        let index = cloner.all(&operation.operands[1..]);
        let new_op = cloner.to.build_op(operation.name()).operand(of);
        let new_op = index.into_iter().fold(new_op, |new_op, index| new_op.operand(index));
        let offsets = operation.attributes.get("offsets").cloned();
        let new_op = offsets.into_iter().fold(new_op, |new_op, offsets| new_op.attribute("offsets", offsets));
        Ok(new_op.result(TileType::Memory(Arc::new(ty))).value()?)
    }

    /// Emits the views of parts that an operation uses that is no copy.
    pub(super) fn bind_parts(&mut self, op: Op, cloner: &mut IrCloner<'_, '_, '_>) -> Rewritten<()> {
        let parts: Vec<Value> =
            cloner.from.op(op).operands.iter().copied().filter(|value| self.parts.contains_key(value)).collect();
        for part in parts {
            let view = self.emit_buffer_view(part, op, cloner)?;
            cloner.bind(part, view);
        }
        Ok(())
    }
}
