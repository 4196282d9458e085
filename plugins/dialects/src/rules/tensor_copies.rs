//! Defines the rules of bulk tensor copies (TMA) between global and shared memory.

use tilewright_tile::rules::{Check, Checked, Rule, bases, ensure, flag};
use tilewright_tile::{MemDescType, TensorDescriptorType, TileType};

use super::shared_layouts::is_fp4_padded;

/// The rules of `ttng`'s bulk tensor copies.
pub(super) const RULES: [Rule; 4] = [
    Rule::new("tensor_copy", tensor_copy),
    Rule::new("tensor_rows", tensor_rows),
    Rule::new("reduction_kind", reduction_kind),
    Rule::new("tensor_map", tensor_map),
];

fn descriptor<'c>(check: &Check<'c>) -> Option<&'c TensorDescriptorType> {
    match check.group_type("desc")? {
        TileType::Descriptor(descriptor) => Some(descriptor),
        _ => None,
    }
}

/// `tensor_copy(memory)`: memory has the layout of the descriptor whose block is copied, with a coordinate for each
/// axis.
fn tensor_copy(check: &Check<'_>, groups: &[String]) -> Checked {
    let Some(group) = groups.first() else { return Ok(()) };
    let is_im2col = matches!(check.group_type("desc"), Some(TileType::Foreign(text)) if text.contains("im2col"));
    let (coordinates, offsets) = (check.group_types("coord").len(), check.group_types("offsets").len());
    if is_im2col {
        return check_image(check, group, coordinates, offsets);
    }
    ensure(offsets == 0, || "`offsets` are for images: expected a descriptor `!ttng.tensordesc_im2col`".to_owned())?;
    let Some(descriptor) = descriptor(check) else { return Ok(()) };
    ensure(coordinates == descriptor.shape.len(), || {
        format!("{coordinates} coordinates for blocks of {:?}: expected one for each axis", descriptor.shape)
    })?;
    check_shared_layout(check, group, descriptor)
}

/// Checks a copy of an image's block (`im2col`): offsets for the axes that are neither the image's number nor the
/// channel.
fn check_image(check: &Check<'_>, group: &str, coordinates: usize, offsets: usize) -> Checked {
    ensure(coordinates >= 3, || format!("{coordinates} coordinates of an image: expected three at least"))?;
    ensure(offsets == coordinates - 2, || {
        format!("{offsets} offsets for {coordinates} coordinates of an image: expected {}", coordinates - 2)
    })?;
    check.memory_type(group).map_or(Ok(()), |memory| check_copied_layout(check, memory))
}

/// `!ttng.tensordesc_im2col`: its blocks have two axes.
pub(super) fn check_image_descriptor(parameters: &str) -> Checked {
    let rank = parameters.split(',').next().unwrap_or_default().matches('x').count();
    ensure(rank == 2, || format!("it has blocks of {rank} axes: expected two"))
}

/// Checks that shared memory has the layout of the descriptor, and that TMA writes it.
fn check_shared_layout(check: &Check<'_>, group: &str, descriptor: &TensorDescriptorType) -> Checked {
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
    check_copied_layout(check, memory)
}

/// Checks that bulk tensor copies write this layout of shared memory.
fn check_copied_layout(check: &Check<'_>, memory: &MemDescType) -> Checked {
    let spec = memory.layout.spec();
    ensure(spec.name == "nvmma_shared", || {
        format!(
            "memory has the layout `{}`: expected `#ttg.nvmma_shared`, which bulk tensor copies write",
            memory.layout.text()
        )
    })?;
    ensure(!flag(spec, "transposed"), || "memory is transposed, which bulk tensor copies do not write".to_owned())?;
    let is_load = check.operation().name() == "ttng.async_tma_copy_global_to_local";
    ensure(is_load || !is_fp4_padded(spec), || {
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

/// `tensor_rows(memory)`: the lanes of a warp share the indices of the rows that are copied.
fn tensor_rows(check: &Check<'_>, groups: &[String]) -> Checked {
    if let (Some(group), Some(descriptor)) = (groups.first(), descriptor(check)) {
        let bits = descriptor.element.element_bits().unwrap_or(8);
        ensure(bits <= 32, || format!("elements of {bits} bits: expected 32 at most"))?;
        check_shared_layout(check, group, descriptor)?;
    }
    let Some(TileType::Tensor(indices)) = check.group_type("x_offsets") else { return Ok(()) };
    let Some(layout) = &indices.layout else { return Ok(()) };
    let Some(bases) = check.bases(layout, &indices.shape) else { return Ok(()) };
    ensure(bases.lanes.iter().flatten().all(|by| *by == 0), || {
        format!("the row indices `{}` differ between lanes: expected the same in each lane of a warp", layout.text())
    })?;
    ensure(bases.registers.starts_with(&[vec![1], vec![2]]), || {
        format!("the row indices `{}`: expected four adjacent ones in each lane", layout.text())
    })
}

/// `reduction_kind(memory)` (`ttng.async_tma_reduce`): hardware has the reduction for the element type.
fn reduction_kind(check: &Check<'_>, groups: &[String]) -> Checked {
    let Some(ty) = groups.first().and_then(|group| check.group_type(group)) else { return Ok(()) };
    let Some(kind) = check.text("kind") else { return Ok(()) };
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

/// `tensor_map` (`ttng.tensormap_create`): each list has a number for each axis of the box.
fn tensor_map(check: &Check<'_>, _: &[String]) -> Checked {
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
