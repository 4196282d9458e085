//! Rules of tensor descriptors and of copies by them.

use super::layouts::{bases, flag};
use super::{Check, Checked, ensure};
use crate::op::name::tt;
use crate::{Attribute, MemDescType, TensorDescriptorType, TileType};

fn descriptor<'c>(check: &'c Check<'_>) -> Option<&'c TensorDescriptorType> {
    match check.group_type("desc")? {
        TileType::Descriptor(descriptor) => Some(descriptor),
        _ => None,
    }
}

/// Whether elements of a descriptor become these of a tensor: the same, without signedness.
fn is_element(descriptor: &TileType, tensor: &TileType) -> bool {
    match (descriptor, tensor) {
        (TileType::Integer(bits, _), TileType::Integer(width, _)) => bits == width,
        _ => descriptor == tensor,
    }
}

fn count(shape: &[u64]) -> u64 {
    shape.iter().fold(1, |all, size| all.saturating_mul(*size))
}

/// `block(tensor)`: a tensor has the elements of the descriptor's block.
pub(super) fn block(check: &Check<'_>, groups: &[String]) -> Checked {
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

/// `rows(tensor)`: rows of a tensor at indices, each a block of the descriptor.
pub(super) fn rows(check: &Check<'_>, groups: &[String]) -> Checked {
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

/// `tensor_copy(memory)`: a bulk copy of a descriptor's block to or from shared memory.
pub(super) fn tensor_copy(check: &Check<'_>, groups: &[String]) -> Checked {
    let Some(group) = groups.first() else { return Ok(()) };
    let is_im2col = matches!(check.group_type("desc"), Some(TileType::Foreign(text)) if text.contains("im2col"));
    let (coordinates, offsets) = (check.group_types("coord").len(), check.group_types("offsets").len());
    if is_im2col {
        ensure(coordinates >= 3, || format!("{coordinates} coordinates of an image: expected three at least"))?;
        ensure(offsets == coordinates - 2, || {
            format!("{offsets} offsets for {coordinates} coordinates of an image: expected {}", coordinates - 2)
        })?;
        return check.memory_type(group).map_or(Ok(()), |memory| copied_layout(check, memory));
    }
    ensure(offsets == 0, || "`offsets` are for images: expected a descriptor `!ttng.tensordesc_im2col`".to_owned())?;
    let Some(descriptor) = descriptor(check) else { return Ok(()) };
    ensure(coordinates == descriptor.shape.len(), || {
        format!("{coordinates} coordinates for blocks of {:?}: expected one for each axis", descriptor.shape)
    })?;
    block(check, groups)?;
    shared_layout(check, group, descriptor)
}

/// The layout of shared memory is that of the descriptor, and one that TMA writes.
fn shared_layout(check: &Check<'_>, group: &str, descriptor: &TensorDescriptorType) -> Checked {
    let Some(memory) = check.memory_type(group) else { return Ok(()) };
    let Some(own) = &descriptor.layout else {
        return Err(format!("the descriptor has no layout: expected that of memory, `{}`", memory.layout.text()));
    };
    if memory.shape.len() == descriptor.shape.len() {
        ensure(*own == memory.layout, || {
            format!(
                "the descriptor has the layout `{}`, and memory `{}`: expected one",
                own.text(),
                memory.layout.text()
            )
        })?;
    }
    copied_layout(check, memory)
}

/// A layout of shared memory that bulk tensor copies write.
fn copied_layout(check: &Check<'_>, memory: &MemDescType) -> Checked {
    let spec = memory.layout.spec();
    ensure(spec.name == "nvmma_shared", || {
        format!(
            "memory has the layout `{}`: expected `#ttg.nvmma_shared`, which bulk tensor copies write",
            memory.layout.text()
        )
    })?;
    ensure(!flag(spec, "transposed"), || "memory is transposed, which bulk tensor copies do not write".to_owned())?;
    let is_load = check.operation.name() == "ttng.async_tma_copy_global_to_local";
    ensure(is_load || !(flag(spec, "fp4_padded") || flag(spec, "fp4padded")), || {
        "padded elements of four bits can be loaded, and not stored".to_owned()
    })?;
    if check.is_set("multicast") {
        let blocks = bases(spec, "cga_layout").unwrap_or_default();
        ensure(blocks.iter().any(|basis| basis.iter().all(|by| *by == 0)), || {
            "`multicast`: expected a layout that repeats over blocks, with a zero basis in `CGALayout`".to_owned()
        })?;
    }
    Ok(())
}

/// `tensor_rows(memory)`: a bulk copy of rows at indices, which the lanes of a warp share.
pub(super) fn tensor_rows(check: &Check<'_>, groups: &[String]) -> Checked {
    rows(check, groups)?;
    if let (Some(group), Some(descriptor)) = (groups.first(), descriptor(check)) {
        let bits = descriptor.element.element_bits().unwrap_or(8);
        ensure(bits <= 32, || format!("elements of {bits} bits: expected 32 at most"))?;
        shared_layout(check, group, descriptor)?;
    }
    let Some(TileType::Tensor(indices)) = check.group_type("x_offsets") else { return Ok(()) };
    let Some(layout) = &indices.layout else { return Ok(()) };
    let Some((lanes, registers)) = check.lanes_and_registers(layout, &indices.shape) else { return Ok(()) };
    ensure(lanes.iter().flatten().all(|by| *by == 0), || {
        format!("the row indices `{}` differ between lanes: expected the same in each lane of a warp", layout.text())
    })?;
    ensure(registers.first() == Some(&vec![1]) && registers.get(1) == Some(&vec![2]), || {
        format!("the row indices `{}`: expected four adjacent ones in each lane", layout.text())
    })
}

/// `ttng.async_tma_reduce`: the reductions that hardware has of an element type.
pub(super) fn reduction_kind(check: &Check<'_>, groups: &[String]) -> Checked {
    let Some(ty) = groups.first().and_then(|group| check.group_type(group)) else { return Ok(()) };
    let Some(kind) = check.operation.attributes.get("kind").and_then(Attribute::as_text) else { return Ok(()) };
    let (element, text) = (ty.element(), ty.element().to_string());
    let bits = element.element_bits().unwrap_or(0);
    let is_integer = matches!(element, TileType::Integer(..));
    let has = match kind {
        "add" => (is_integer && (bits == 32 || bits == 64)) || ["f16", "bf16", "f32"].contains(&text.as_str()),
        "min" | "max" => (is_integer && (bits == 32 || bits == 64)) || ["f16", "bf16"].contains(&text.as_str()),
        "and" | "or" | "xor" => is_integer && (bits == 32 || bits == 64),
        "inc" | "dec" => is_integer && bits == 32,
        _ => true,
    };
    ensure(has, || format!("`{kind}` of `{text}` is no reduction of bulk tensor copies"))
}

/// `ttng.tensormap_create`: as many numbers as the box has axes.
pub(super) fn tensor_map(check: &Check<'_>, _: &[String]) -> Checked {
    let axes = check.group_types("box_dim").len();
    let sides = [("global_dim", axes), ("global_stride", axes.saturating_sub(1)), ("element_stride", axes)];
    for (group, expected) in sides {
        let given = check.group_types(group).len();
        ensure(given == expected, || {
            format!("`{group}` has {given} numbers for a box of {axes} axes: expected {expected}")
        })?;
    }
    Ok(())
}
