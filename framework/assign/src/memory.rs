//! Global memory behind tensors of pointers, as AxisInfo describes it.
//!
//! A tensor of pointers counts as a tensor in memory: the step of each index bit is a stride. Axes, segments of axes
//! and runs across axes thus have strides, known or unknown (Triton Bespoke Layouts, Coalesce; Linear Layouts paper,
//! section 5.1; Hexcute paper, section 5.1). Contiguity, alignment and the constancy of masks limit the width of an
//! access.

use crate::equal_elements::EqualElements;
use tilewright_layout::Dim;
use tilewright_plan::movement::{AxisStride, GlobalTensor};
use tilewright_target::TargetDescription;
use tilewright_tile::axis_info::{AxisInfo, AxisInfoMap, IndexBitPosition};
use tilewright_tile::op::name::tt;
use tilewright_tile::{Attribute, FunctionBody, Op, TileType, Value, ValueOrigin};

/// The global memory that a tensor of pointers addresses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PointerMemory {
    /// The memory as a tensor: axes, strides and alignment.
    pub tensor: GlobalTensor,
    /// Number of bits of an element in memory.
    pub bits: u32,
    /// The index bits across which neither the address nor a mask changes.
    pub(crate) equal: EqualElements,
}

/// Describes the memory that `pointers` address, from AxisInfo. It limits the width of an access to elements for which
/// every mask is constant. No access needs more than `sufficient_alignment`, in bytes. `None` if `pointers` is not a
/// tensor of pointers.
#[must_use]
pub fn describe_pointer_memory(
    body: &FunctionBody,
    axis_info: &AxisInfoMap,
    pointers: Value,
    masks: &[Value],
    sufficient_alignment: u64,
) -> Option<PointerMemory> {
    let ty = body.value_type(pointers);
    let shape = ty.as_tensor()?.shape.clone();
    let pointee = ty.pointee_type()?;
    let bits = element_bits_while_moved(&pointee);
    let bytes = u64::from(bits / 8);
    let Some(info) = axis_info.get(pointers) else {
        let axes = shape.iter().enumerate().map(|(axis, &size)| (Dim::tensor(axis), size, AxisStride::MultipleOf(1)));
        let tensor = GlobalTensor { max_access_bytes: bytes, ..GlobalTensor::new(axes.collect(), bytes) };
        return Some(PointerMemory { tensor, bits, equal: EqualElements::default() });
    };
    let mask_infos: Vec<_> = masks.iter().map(|mask| axis_info.get(*mask)).collect();
    let is_shared =
        |at: &IndexBitPosition| mask_infos.iter().all(|mask| mask.is_some_and(|mask| mask.is_constant_across_bit(*at)));
    let bytes_of_run = |run: Vec<IndexBitPosition>| bytes << run.into_iter().take_while(is_shared).count();
    let alignment = bytes_of_run(info.aligned_vector_bits());
    let max_access_bytes = bytes_of_run(axis_info.vector_bits(pointers, sufficient_alignment));
    let axes = shape.iter().enumerate().flat_map(|(axis, &size)| {
        let dim = Dim::tensor(axis);
        segments(info, axis, size, bytes).into_iter().map(move |(size, stride)| (dim, size, stride))
    });
    let proven = |value: &Value, at| axis_info.get_proven(*value).is_some_and(|info| info.is_constant_across_bit(at));
    let equal =
        EqualElements::find(&shape, |at| std::iter::once(&pointers).chain(masks).all(|value| proven(value, at)));
    Some(PointerMemory { tensor: GlobalTensor { axes: axes.collect(), alignment, max_access_bytes }, bits, equal })
}

/// Splits an axis of pointers into segments of constant stride, those of the lowest index bits first. Returns the
/// number of elements of each segment, and its stride in elements. `bytes` is the size of an element.
fn segments(info: &AxisInfo, axis: usize, size: u64, bytes: u64) -> Vec<(u64, AxisStride)> {
    let unknown = AxisStride::MultipleOf((info.base_divisibility() / bytes).clamp(1, 1 << 16));
    let mut segments: Vec<(u64, AxisStride)> = Vec::new();
    let mut next = None;
    for bit in 0..size.max(1).trailing_zeros() {
        let stride = match (info.bit_step(IndexBitPosition { axis, bit }).map(i64::unsigned_abs), next) {
            (Some(step), _) if step.is_multiple_of(bytes) => AxisStride::Elements(step / bytes),
            // The step between groups of contiguous elements is unknown here. The groups are assumed to follow each
            // other, as they usually do; the alignment limits each access to one group.
            (None, Some(stride @ AxisStride::Elements(1..))) => stride,
            _ => unknown,
        };
        match segments.last_mut() {
            Some((size, _)) if next == Some(stride) => *size *= 2,
            _ => segments.push((2, stride)),
        }
        next = Some(match stride {
            AxisStride::Elements(stride) => AxisStride::Elements(stride.saturating_mul(2)),
            unknown => unknown,
        });
    }
    if segments.is_empty() { vec![(size, AxisStride::Elements(0))] } else { segments }
}

/// Describes the tensor behind a tensor descriptor of type `ty`: rows along its last axis, each 16-byte aligned. An
/// access covers at most `together` elements of a row.
#[must_use]
pub fn describe_descriptor_global_tensor(ty: &TileType, together: u64) -> Option<PointerMemory> {
    describe_rows(ty.shape()?, element_bits_while_moved(ty.element()), together)
}

/// Describes a tensor of this shape in global memory, as [`describe_descriptor_global_tensor`].
pub(crate) fn describe_rows(shape: &[u64], bits: u32, together: u64) -> Option<PointerMemory> {
    let bytes = u64::from(bits / 8);
    let aligned_elements = (16 / bytes).max(1);
    let last = shape.len().checked_sub(1)?;
    let axes = shape.iter().enumerate().map(|(axis, &size)| {
        let stride = if axis == last { AxisStride::Elements(1) } else { AxisStride::MultipleOf(aligned_elements) };
        (Dim::tensor(axis), size, stride)
    });
    let alignment = together.min(aligned_elements) * bytes;
    let tensor = GlobalTensor { axes: axes.collect(), alignment, max_access_bytes: alignment };
    Some(PointerMemory { tensor, bits, equal: EqualElements::default() })
}

/// Returns a number of consecutive elements along the last axis that are either all in bounds or all out of bounds. The
/// offset of the descriptor's block and the tensor's size are multiples of it. 1 for a `tt.descriptor_reduce`, whose
/// elements lanes combine one by one.
#[must_use]
pub fn find_descriptor_mask_alignment(body: &FunctionBody, axis_info: &AxisInfoMap, op: Op) -> u64 {
    if body.op(op).name() == tt::DESCRIPTOR_REDUCE {
        return 1;
    }
    let divisor =
        |value: Option<&Value>| value.and_then(|value| axis_info.get(*value)).map_or(1, AxisInfo::divisibility);
    let end_divisor = |descriptor: Value| match body.value_origin(descriptor) {
        ValueOrigin::Result(defining_op, _) => divisor(body.operands(defining_op, "shape").last()),
        ValueOrigin::Argument(..) => 1,
    };
    let ends = body.op(op).operands.first().map_or(1, |&descriptor| end_divisor(descriptor));
    divisor(body.operands(op, "indices").last()).min(ends)
}

/// Returns the widths in bits of the vectors of adjacent elements that an atomic operation updates at once on the
/// target; none if it updates single elements.
#[must_use]
pub fn find_vector_update_bits<'t>(body: &FunctionBody, op: Op, target: &'t TargetDescription) -> &'t [u32] {
    let kind = body.op(op).attributes.get("atomic_rmw_op").and_then(Attribute::as_text);
    match body.operand(op, "val") {
        Some(value) if kind == Some("fadd") => {
            target.global.find_vector_add_bits(&body.value_type(value).element().to_string())
        }
        _ => &[],
    }
}

/// Returns the number of bits of an element of this type while it moves: whole bytes, a power of two, at most 64.
#[must_use]
pub fn element_bits_while_moved(ty: &TileType) -> u32 {
    ty.element_bits().unwrap_or(32).max(8).next_power_of_two().min(64)
}
