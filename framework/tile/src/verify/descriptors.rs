//! Defines the rules of tensor descriptors.

use super::{CheckResult, OpContext, ensure};
use crate::op::name::tt;
use crate::{TensorDescriptorType, TileType};

fn descriptor<'c>(check: &'c OpContext<'_>) -> Option<&'c TensorDescriptorType> {
    match check.group_type("desc")? {
        TileType::Descriptor(descriptor) => Some(descriptor),
        _ => None,
    }
}

/// Whether `tensor` is the element type of tensors that a descriptor with the element type `descriptor` reads or
/// writes.
///
/// Integers are compared by their width only, since the elements of tensors have no signedness.
fn is_element(descriptor: &TileType, tensor: &TileType) -> bool {
    match (descriptor, tensor) {
        (TileType::Integer(bits, _), TileType::Integer(width, _)) => bits == width,
        _ => descriptor == tensor,
    }
}

fn count(shape: &[u64]) -> u64 {
    shape.iter().fold(1, |all, size| all.saturating_mul(*size))
}

/// Checks rule `block(tensor)`: the tensor has the element type and the number of elements of the descriptor's block.
pub(super) fn block(check: &OpContext<'_>, groups: &[String]) -> CheckResult {
    let Some(group) = groups.first() else { return Ok(()) };
    let (Some(descriptor), Some(tensor)) = (descriptor(check), check.group_type(group)) else { return Ok(()) };
    ensure(is_element(&descriptor.element, tensor.element()), || {
        format!("blocks of `{}` and a tensor of `{}`: expected one element type", descriptor.element, tensor.element())
    })?;
    let (own, given) = (count(&descriptor.shape), count(tensor.shape().unwrap_or_default()));
    ensure(own == given, || {
        format!("a block of {:?} has {own} elements, and the tensor {given}: expected as many", descriptor.shape)
    })
}

/// Checks rule `rows(tensor)`: the tensor has a row for each of the indices `x_offsets`, and a row is a block of the
/// descriptor.
pub(super) fn rows(check: &OpContext<'_>, groups: &[String]) -> CheckResult {
    let Some(group) = groups.first() else { return Ok(()) };
    let (Some(descriptor), Some(tensor)) = (descriptor(check), check.group_type(group)) else { return Ok(()) };
    let block = &descriptor.shape;
    ensure(block.len() == 2, || format!("the descriptor has blocks of {block:?}: expected two axes, [1, columns]"))?;
    ensure(block[0] == 1, || format!("the descriptor has blocks of {block:?}: expected one row"))?;
    let shape = tensor.shape().unwrap_or_default();
    ensure(shape.len() == 2, || format!("`{group}` has the shape {shape:?}: expected two axes"))?;
    let indices = check.group_type("x_offsets").and_then(TileType::shape).unwrap_or_default();
    ensure(indices.len() == 1, || format!("the row indices are of {indices:?}: expected one axis"))?;
    ensure(shape[0] == indices[0], || {
        format!("{} row indices for a tensor of {shape:?}: expected one for each row", indices[0])
    })?;
    ensure(shape[1] == block[1], || {
        format!("blocks of {} columns and a tensor of {shape:?}: expected as many", block[1])
    })?;
    ensure(is_element(&descriptor.element, tensor.element()), || {
        format!("blocks of `{}` and a tensor of `{}`: expected one element type", descriptor.element, tensor.element())
    })?;
    if matches!(check.operation.name(), tt::DESCRIPTOR_GATHER | tt::DESCRIPTOR_SCATTER) {
        ensure(shape[0] >= 8, || format!("{} rows: expected at least 8", shape[0]))?;
        let bits = u64::from(descriptor.element.element_bits().unwrap_or(8));
        ensure(bits <= 32, || format!("elements of {bits} bits: expected 32 at most"))?;
        let least = 256 / bits.max(1);
        ensure(shape[1] >= least, || {
            format!("{} columns of `{}`: expected at least {least}, 32 bytes", shape[1], descriptor.element)
        })?;
    }
    Ok(())
}
