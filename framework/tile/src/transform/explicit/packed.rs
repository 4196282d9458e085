//! Packs and unpacks elements narrower than a byte.
//!
//! In memory, a byte packs adjacent elements along one axis; in registers, each element has its own byte.

use crate::op::name::{arith, tt, tw};
use std::collections::HashMap;

use crate::transform::rewrite_error::violation_of;
use crate::view_layout::{DynamicCuteLayout, ModeStride};
use crate::{Attribute, BuildError, Function, FunctionBody, FunctionBuilder, Op, TileType, TileViolation, Value};

/// Number of elements in a byte of memory; 1 for elements of six bits and for those of a byte or more.
pub(super) fn in_byte(element: &TileType) -> u64 {
    match element.element_bits() {
        Some(bits @ (1 | 2 | 4)) => u64::from(8 / bits),
        _ => 1,
    }
}

/// Whether elements are narrower than a byte.
///
/// It is true for `i1` too, although a tensor of bools takes a byte per element in memory.
pub(super) fn is_narrow(element: &TileType) -> bool {
    element.element_bits().is_some_and(|bits| bits < 8)
}

/// The shape and element type (bytes) of a tensor in memory whose bytes pack elements along `axis`.
pub(super) fn stored(shape: &[u64], element: &TileType, axis: usize) -> (Vec<u64>, TileType) {
    let mut shape = shape.to_vec();
    if let Some(size) = shape.get_mut(axis) {
        *size = (*size / in_byte(element)).max(1);
    }
    (shape, TileType::integer(8))
}

/// For each view or tensor with elements narrower than a byte, the axis along which bytes of memory pack them.
///
/// The error is at a copy whose two sides pack along different axes, or at a view without a contiguous axis.
pub(super) fn axes(function: &Function) -> Result<HashMap<Value, usize>, TileViolation> {
    let mut axes = HashMap::new();
    let Some(body) = &function.body else { return Ok(axes) };
    let ops = body.walk_region(body.root());
    for &op in &ops {
        let operation = body.op(op);
        match operation.name() {
            tw::GLOBAL_VIEW if is_of_bytes(body, op) => {
                axes.insert(operation.results[0], unit_axis(function, body, op)?);
            }
            tw::SLICE | tw::GATHER => {
                if let Some(&axis) = axes.get(&operation.operands[0]) {
                    axes.insert(operation.results[0], axis);
                }
            }
            _ => {}
        }
    }
    // Copies preserve the packed axis.
    for _ in 0..2 {
        for &op in ops.iter().filter(|op| [tw::COPY, tw::REARRANGE].contains(&body.op(**op).name())) {
            copied(function, body, op, &mut axes)?;
        }
    }
    Ok(axes)
}

/// Whether an operation creates a view of elements narrower than a byte, given a pointer to bytes.
fn is_of_bytes(body: &FunctionBody, op: Op) -> bool {
    let element = body.value_type(body.op(op).results[0]).element();
    is_narrow(element) && body.value_type(body.op(op).operands[0]).pointee_type().as_ref() != Some(element)
}

fn copied(
    function: &Function,
    body: &FunctionBody,
    op: Op,
    axes: &mut HashMap<Value, usize>,
) -> Result<(), TileViolation> {
    let operation = body.op(op);
    let ends: Vec<Value> = operation.results.iter().chain(operation.operands.iter().take(2)).copied().collect();
    let ends = ends.into_iter().filter(|value| is_narrow(body.value_type(*value).element()));
    let ends: Vec<Value> = ends.filter(|value| !matches!(body.value_type(*value), TileType::Integer(..))).collect();
    let known: Vec<usize> = ends.iter().filter_map(|value| axes.get(value).copied()).collect();
    match known[..] {
        [] => Ok(()),
        [axis] | [axis, ..] if known.iter().all(|other| *other == axis) => {
            axes.extend(ends.into_iter().map(|value| (value, axis)));
            Ok(())
        }
        _ => Err(violation_of(
            function,
            op,
            format!("bytes pack neighbours along axis {} on one side and {} on the other", known[0], known[1]),
        )),
    }
}

/// Returns the axis of a view that has stride 1, along which bytes pack its elements; axis 0 if a byte has one element.
fn unit_axis(function: &Function, body: &FunctionBody, op: Op) -> Result<usize, TileViolation> {
    let text = body.op(op).attributes.get("layout").and_then(Attribute::as_text).unwrap_or_default();
    let layout = DynamicCuteLayout::parse(text).map_err(|error| violation_of(function, op, error.to_string()))?;
    let follows = |modes: &Vec<crate::view_layout::ViewMode>| {
        modes.len() == 1 && modes[0].stride == ModeStride::Elements(1) && modes[0].size.is_some_and(|size| size > 1)
    };
    if in_byte(body.value_type(body.op(op).results[0]).element()) == 1 {
        return Ok(0);
    }
    layout.axes.iter().position(follows).ok_or_else(|| {
        violation_of(
            function,
            op,
            "elements narrower than a byte follow each other along one axis: expected a stride of 1",
        )
    })
}

impl FunctionBuilder<'_> {
    /// Emits a tensor with one byte per element from `bytes`, whose bytes pack adjacent elements along `axis`.
    pub(super) fn unpacked(&mut self, bytes: Value, element: &TileType, axis: usize) -> Result<Value, BuildError> {
        let ty = self.ty(bytes).clone();
        let bits = element.element_bits().unwrap_or(8);
        let low = self.integer((1 << bits) - 1, &ty)?;
        let mut shifted = Vec::new();
        for index in 0..8 / bits {
            let mut masked = bytes;
            if index > 0 {
                let by = self.integer(i64::from(index * bits), &ty)?;
                masked = self.binary(arith::SHRUI, masked, by)?;
            }
            shifted.push(self.binary(arith::ANDI, masked, low)?);
        }
        if let [alone] = shifted[..] {
            return Ok(alone);
        }
        // Join such that the innermost axis is the lowest bit of an element's index in its byte.
        while shifted.len() > 1 {
            let half = shifted.len() / 2;
            let (first, second) = (shifted[..half].to_vec(), shifted[half..].to_vec());
            shifted = first.into_iter().zip(second).map(|(a, b)| self.joined(a, b)).collect::<Result<_, _>>()?;
        }
        self.merge_behind(shifted[0], axis, 8 / bits)
    }

    fn joined(&mut self, first: Value, second: Value) -> Result<Value, BuildError> {
        let ty = self.ty(first).clone();
        let mut shape = ty.shape().unwrap_or_default().to_vec();
        shape.push(2);
        let new_op = self.build_op(tt::JOIN).operand(first).operand(second);
        new_op.result(TileType::tensor(shape, ty.element().clone(), None)).value()
    }

    /// Merges the last axes, each of size two and together of `merged` elements, into `axis`, as the lowest bits of its
    /// index.
    ///
    /// The halves of bytes were joined first, so the first of these axes has the highest of these bits.
    fn merge_behind(&mut self, value: Value, axis: usize, merged: u32) -> Result<Value, BuildError> {
        let ty = self.ty(value).clone();
        let shape = ty.shape().unwrap_or_default().to_vec();
        let count = merged.trailing_zeros() as usize;
        let rank = shape.len() - count;
        let mut order: Vec<usize> = (0..=axis).collect();
        order.extend(rank..shape.len());
        order.extend(axis + 1..rank);
        let moved: Vec<u64> = order.iter().map(|&from| shape[from]).collect();
        let numbers = Attribute::Array(TileType::integer(32), order.iter().map(|&from| from as u64).collect());
        let new_op = self.build_op(tt::TRANS).operand(value).attribute("order", numbers);
        let moved = new_op.result(TileType::tensor(moved, ty.element().clone(), None)).value()?;
        let mut merged_shape = shape[..rank].to_vec();
        merged_shape[axis] *= u64::from(merged);
        self.unary(tt::RESHAPE, moved, TileType::tensor(merged_shape, ty.element().clone(), None))
    }
}
