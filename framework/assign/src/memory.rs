//! Global memory behind tensors of pointers, as AxisInfo describes it.
//!
//! A tensor of pointers is treated as a tensor in memory: stride 1 along the axis with contiguous pointers, stride 0
//! along axes with equal pointers, unknown strides elsewhere (Triton Bespoke Layouts, Coalesce; Hexcute paper, section
//! 5.1). Contiguity, alignment and the constancy of masks limit the width of an access.

use tilewright_layout::Dim;
use tilewright_plan::movement::{AxisStride, GlobalTensor};
use tilewright_tile::axis_info::AxisInfoMap;
use tilewright_tile::{Body, Op, TileType, Value, ValueOrigin};

/// The global memory that a tensor of pointers addresses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PointerMemory {
    /// The memory as a tensor: axes, strides and alignment.
    pub tensor: GlobalTensor,
    /// Number of bits of an element in memory.
    pub bits: u32,
}

/// Describes the memory that `pointers` address, from AxisInfo. Every mask must be constant over the elements of one
/// access. `None` if `pointers` is not a tensor of pointers.
#[must_use]
pub fn pointer_memory(body: &Body, axis_info: &AxisInfoMap, pointers: Value, masks: &[Value]) -> Option<PointerMemory> {
    let ty = body.ty(pointers);
    let shape = ty.as_tensor()?.shape.clone();
    let pointee = ty.pointee()?;
    let bits = moved_bits(&pointee);
    let bytes = u64::from(bits / 8);
    let Some(info) = axis_info.get(pointers) else {
        let axes = shape.iter().enumerate().map(|(axis, &size)| (Dim::tensor(axis), size, AxisStride::MultipleOf(1)));
        return Some(PointerMemory { tensor: GlobalTensor { axes: axes.collect(), alignment: bytes }, bits });
    };
    let shared = |axis: usize| {
        let known = masks
            .iter()
            .map(|mask| axis_info.get(*mask).and_then(|info| info.axes.get(axis)).map_or(1, |a| a.constancy));
        known.min().unwrap_or(u64::MAX)
    };
    // Rows extend along the most contiguous axis.
    let contiguity = |axis: usize| info.axes.get(axis).map_or(1, |along| along.contiguity);
    let row = (0..shape.len()).rev().max_by_key(|&axis| (contiguity(axis), shape[axis] > 1)).unwrap_or(0);
    let along = info.axes.get(row).copied().unwrap_or(tilewright_tile::axis_info::DimInfo::NOTHING);
    let within = along.contiguity.min(shared(row)).saturating_mul(bytes);
    let alignment = along.divisibility.min(within).max(bytes);
    let axes = shape.iter().enumerate().map(|(axis, &size)| {
        let dim_info = info.axes.get(axis).copied().unwrap_or(tilewright_tile::axis_info::DimInfo::NOTHING);
        let stride = match () {
            () if axis == row && dim_info.contiguity > 1 => AxisStride::Elements(1),
            () if dim_info.constancy >= size => AxisStride::Elements(0),
            () => AxisStride::MultipleOf((alignment / bytes).max(1)),
        };
        (Dim::tensor(axis), size, stride)
    });
    Some(PointerMemory { tensor: GlobalTensor { axes: axes.collect(), alignment }, bits })
}

/// Describes the memory behind a tensor descriptor: rows along its last axis, each 16-byte aligned. An access covers at
/// most `together` elements of a row.
#[must_use]
pub fn descriptor_tensor(ty: &TileType, together: u64) -> Option<PointerMemory> {
    let shape = ty.shape()?;
    let bits = moved_bits(ty.element());
    let bytes = u64::from(bits / 8);
    let aligned_elements = (16 / bytes).max(1);
    let last = shape.len().checked_sub(1)?;
    let axes = shape.iter().enumerate().map(|(axis, &size)| {
        let stride = if axis == last { AxisStride::Elements(1) } else { AxisStride::MultipleOf(aligned_elements) };
        (Dim::tensor(axis), size, stride)
    });
    let alignment = together.min(aligned_elements) * bytes;
    Some(PointerMemory { tensor: GlobalTensor { axes: axes.collect(), alignment }, bits })
}

/// Returns the number of consecutive elements along the last axis that are either all in bounds or all out of bounds:
/// the offset of a block and the tensor's size are multiples of it.
#[must_use]
pub fn elements_in_bounds_together(body: &Body, axis_info: &AxisInfoMap, op: Op) -> u64 {
    let divisor = |value: Option<&Value>| {
        value
            .and_then(|value| axis_info.get(*value))
            .and_then(|info| info.axes.first())
            .map_or(1, |along| along.divisibility)
    };
    let end_divisor = |descriptor: Value| match body.origin(descriptor) {
        ValueOrigin::Result(defining_op, _) => divisor(body.operands(defining_op, "shape").last()),
        ValueOrigin::Argument(..) => 1,
    };
    let ends = body.op(op).operands.first().map_or(1, |&descriptor| end_divisor(descriptor));
    divisor(body.operands(op, "indices").last()).min(ends)
}

/// Returns the number of bits by which an element of a type moves: whole bytes, a power of two, at most 64.
#[must_use]
pub fn moved_bits(ty: &TileType) -> u32 {
    ty.element_bits().unwrap_or(32).max(8).next_power_of_two().min(64)
}
