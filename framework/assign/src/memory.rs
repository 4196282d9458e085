//! What is known of the memory that a tensor of pointers names, and the layouts in which it is best accessed.
//!
//! A tensor of pointers is, as far as facts say, a tensor in memory: along an axis whose pointers follow each other
//! elements lie side by side, along one whose pointers are the same nothing moves, along any other they lie apart (seed
//! 002, Coalesce; seed 003, section 5.1). How wide an access can be is limited by how long the rows are, how they are
//! aligned, and by how many neighbours share a mask.

use tilewright_layout::Dim;
use tilewright_plan::movement::{AxisStride, GlobalTensor};
use tilewright_tile::facts::AxisInfoMap;
use tilewright_tile::{Body, Op, TileType, Value, ValueOrigin};

/// The memory of a tensor of pointers, accessed under masks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Named {
    /// The tensor in memory.
    pub tensor: GlobalTensor,
    /// Bits of an element there.
    pub bits: u32,
}

/// What facts say of the memory that `pointers` name; `masks` are values that must be the same for all elements of an
/// access. Nothing of what is no tensor of pointers.
#[must_use]
pub fn named(body: &Body, facts: &AxisInfoMap, pointers: Value, masks: &[Value]) -> Option<Named> {
    let ty = body.ty(pointers);
    let shape = ty.as_tensor()?.shape.clone();
    let pointee = ty.pointee()?;
    let bits = moved_bits(&pointee);
    let bytes = u64::from(bits / 8);
    let Some(fact) = facts.get(pointers) else {
        let axes = shape.iter().enumerate().map(|(axis, &size)| (Dim::tensor(axis), size, AxisStride::MultipleOf(1)));
        return Some(Named { tensor: GlobalTensor { axes: axes.collect(), alignment: bytes }, bits });
    };
    let shared = |axis: usize| {
        let known =
            masks.iter().map(|mask| facts.get(*mask).and_then(|fact| fact.axes.get(axis)).map_or(1, |a| a.constancy));
        known.min().unwrap_or(u64::MAX)
    };
    // The axis along which most follow each other is the one of the rows.
    let contiguity = |axis: usize| fact.axes.get(axis).map_or(1, |along| along.contiguity);
    let row = (0..shape.len()).rev().max_by_key(|&axis| (contiguity(axis), shape[axis] > 1)).unwrap_or(0);
    let along = fact.axes.get(row).copied().unwrap_or(tilewright_tile::facts::DimInfo::NOTHING);
    let within = along.contiguity.min(shared(row)).saturating_mul(bytes);
    let alignment = along.divisibility.min(within).max(bytes);
    let axes = shape.iter().enumerate().map(|(axis, &size)| {
        let own = fact.axes.get(axis).copied().unwrap_or(tilewright_tile::facts::DimInfo::NOTHING);
        let stride = match () {
            () if axis == row && own.contiguity > 1 => AxisStride::Elements(1),
            () if own.constancy >= size => AxisStride::Elements(0),
            () => AxisStride::MultipleOf((alignment / bytes).max(1)),
        };
        (Dim::tensor(axis), size, stride)
    });
    Some(Named { tensor: GlobalTensor { axes: axes.collect(), alignment }, bits })
}

/// The memory that a descriptor names: rows follow its last axis, and begin at a multiple of sixteen bytes. So many elements
/// along it are accessed together at most.
#[must_use]
pub fn described(ty: &TileType, together: u64) -> Option<Named> {
    let shape = ty.shape()?;
    let bits = moved_bits(ty.element());
    let bytes = u64::from(bits / 8);
    let grain = (16 / bytes).max(1);
    let last = shape.len().checked_sub(1)?;
    let axes = shape.iter().enumerate().map(|(axis, &size)| {
        let stride = if axis == last { AxisStride::Elements(1) } else { AxisStride::MultipleOf(grain) };
        (Dim::tensor(axis), size, stride)
    });
    let alignment = together.min(grain) * bytes;
    Some(Named { tensor: GlobalTensor { axes: axes.collect(), alignment }, bits })
}

/// How many elements along the last axis of a block that an operation accesses by a descriptor are in its tensor together, or are
/// not: where the block begins and the tensor ends at multiples of so many.
#[must_use]
pub fn together(body: &Body, facts: &AxisInfoMap, op: Op) -> u64 {
    let divisor = |value: Option<&Value>| {
        value
            .and_then(|value| facts.get(*value))
            .and_then(|fact| fact.axes.first())
            .map_or(1, |along| along.divisibility)
    };
    let made = |descriptor: Value| match body.origin(descriptor) {
        ValueOrigin::Result(made, _) => divisor(body.operands(made, "shape").last()),
        ValueOrigin::Argument(..) => 1,
    };
    let ends = body.op(op).operands.first().map_or(1, |&descriptor| made(descriptor));
    divisor(body.operands(op, "indices").last()).min(ends)
}

/// Bits by which an element of a type is moved: whole bytes, a power of two.
#[must_use]
pub fn moved_bits(ty: &TileType) -> u32 {
    ty.element_bits().unwrap_or(32).max(8).next_power_of_two().min(64)
}
