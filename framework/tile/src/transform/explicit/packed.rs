//! Elements narrower than a byte: memory has bytes of them, neighbours along one axis; registers have each in a byte of its own.

use crate::op::name::{arith, tt, tw};
use std::collections::HashMap;

use crate::transform::rewrite_error::violation_of;
use crate::view_layout::{ModeStride, ViewLayout};
use crate::{Attribute, Body, BuildError, Function, FunctionBuilder, Op, TileType, TileViolation, Value};

/// How many elements a byte holds, where memory has bytes of them: those of six bits have a byte each.
pub(super) fn in_byte(element: &TileType) -> u64 {
    match element.element_bits() {
        Some(bits @ (1 | 2 | 4)) => u64::from(8 / bits),
        _ => 1,
    }
}

/// Whether elements are narrower than a byte. A bit may be a truth too, which has a byte in memory: such are no bytes that hold
/// elements.
pub(super) fn is_narrow(element: &TileType) -> bool {
    element.element_bits().is_some_and(|bits| bits < 8)
}

/// The shape and the elements of what memory has.
pub(super) fn stored(shape: &[u64], element: &TileType, axis: usize) -> (Vec<u64>, TileType) {
    let mut shape = shape.to_vec();
    if let Some(size) = shape.get_mut(axis) {
        *size = (*size / in_byte(element)).max(1);
    }
    (shape, TileType::integer(8))
}

/// The axis along which bytes hold neighbours, of each view and tensor of narrow elements.
pub(super) fn axes(function: &Function) -> Result<HashMap<Value, usize>, TileViolation> {
    let mut axes = HashMap::new();
    let Some(body) = &function.body else { return Ok(axes) };
    let ops = body.walk(body.root());
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
    // What is copied lies in bytes in the same way.
    for _ in 0..2 {
        for &op in ops.iter().filter(|op| [tw::COPY, tw::REARRANGE].contains(&body.op(**op).name())) {
            copied(function, body, op, &mut axes)?;
        }
    }
    Ok(axes)
}

/// Whether a view of narrow elements is one of bytes.
fn is_of_bytes(body: &Body, op: Op) -> bool {
    let element = body.ty(body.op(op).results[0]).element();
    is_narrow(element) && body.ty(body.op(op).operands[0]).pointee().as_ref() != Some(element)
}

fn copied(function: &Function, body: &Body, op: Op, axes: &mut HashMap<Value, usize>) -> Result<(), TileViolation> {
    let operation = body.op(op);
    let ends: Vec<Value> = operation.results.iter().chain(operation.operands.iter().take(2)).copied().collect();
    let ends = ends.into_iter().filter(|value| is_narrow(body.ty(*value).element()));
    let ends: Vec<Value> = ends.filter(|value| !matches!(body.ty(*value), TileType::Integer(..))).collect();
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
            format!("bytes hold neighbours along axis {} on one side and {} on the other", known[0], known[1]),
        )),
    }
}

/// The axis of a view along which elements follow each other; any where each has a byte.
fn unit_axis(function: &Function, body: &Body, op: Op) -> Result<usize, TileViolation> {
    let text = body.op(op).attributes.get("layout").and_then(Attribute::as_text).unwrap_or_default();
    let layout = ViewLayout::parse(text).map_err(|error| violation_of(function, op, error.to_string()))?;
    let follows = |modes: &Vec<crate::view_layout::ViewMode>| {
        modes.len() == 1 && modes[0].stride == ModeStride::Elements(1) && modes[0].size.is_some_and(|size| size > 1)
    };
    if in_byte(body.ty(body.op(op).results[0]).element()) == 1 {
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
    /// Bytes as their elements, each in a byte of its own, those of a byte one after the other along an axis.
    pub(super) fn unpacked(&mut self, bytes: Value, element: &TileType, axis: usize) -> Result<Value, BuildError> {
        let ty = self.ty(bytes).clone();
        let bits = element.element_bits().unwrap_or(8);
        let low = self.integer((1 << bits) - 1, &ty)?;
        let mut parts = Vec::new();
        for number in 0..8 / bits {
            let mut part = bytes;
            if number > 0 {
                let by = self.integer(i64::from(number * bits), &ty)?;
                part = self.binary(arith::SHRUI, part, by)?;
            }
            parts.push(self.binary(arith::ANDI, part, low)?);
        }
        if let [alone] = parts[..] {
            return Ok(alone);
        }
        // Joined so that the lowest bit of the number is the last axis but for those above it.
        while parts.len() > 1 {
            let half = parts.len() / 2;
            let (first, second) = (parts[..half].to_vec(), parts[half..].to_vec());
            parts = first.into_iter().zip(second).map(|(a, b)| self.joined(a, b)).collect::<Result<_, _>>()?;
        }
        self.beside(parts[0], axis, 8 / bits)
    }

    fn joined(&mut self, first: Value, second: Value) -> Result<Value, BuildError> {
        let ty = self.ty(first).clone();
        let mut shape = ty.shape().unwrap_or_default().to_vec();
        shape.push(2);
        let made = self.op(tt::JOIN).operand(first).operand(second);
        made.result(TileType::tensor(shape, ty.element().clone(), None)).value()
    }

    /// The last axes, of two each, moved behind another one and made one with it. The halves were joined first, so that the
    /// first of these axes has the highest bit of the number.
    fn beside(&mut self, value: Value, axis: usize, parts: u32) -> Result<Value, BuildError> {
        let ty = self.ty(value).clone();
        let shape = ty.shape().unwrap_or_default().to_vec();
        let count = parts.trailing_zeros() as usize;
        let rank = shape.len() - count;
        let mut order: Vec<usize> = (0..=axis).collect();
        order.extend(rank..shape.len());
        order.extend(axis + 1..rank);
        let moved: Vec<u64> = order.iter().map(|&from| shape[from]).collect();
        let numbers = Attribute::Array(TileType::integer(32), order.iter().map(|&from| from as u64).collect());
        let made = self.op(tt::TRANS).operand(value).attribute("order", numbers);
        let moved = made.result(TileType::tensor(moved, ty.element().clone(), None)).value()?;
        let mut whole = shape[..rank].to_vec();
        whole[axis] *= u64::from(parts);
        self.unary(tt::RESHAPE, moved, TileType::tensor(whole, ty.element().clone(), None))
    }
}
