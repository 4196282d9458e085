//! Defines the rules of bulk tensor copies (TMA) between global and shared memory.

use tilewright_layout::{Dim, FamilySpec};
use tilewright_tile::rules::{
    CheckResult, OpContext, VerifyRule, ensure, find_layout_bases, find_layout_integer, find_layout_integer_by_names,
    read_layout_bool_parameter,
};
use tilewright_tile::{LayoutAttribute, MemDescType, TensorDescriptorType, TileType};

use super::shared_layouts::{ELEMENT_BITS, SWIZZLE, is_fp4_padded};

/// The rules of `ttng`'s bulk tensor copies.
pub(super) const RULES: [VerifyRule; 5] = [
    VerifyRule::new("full_words", full_words),
    VerifyRule::new("tensor_copy", tensor_copy),
    VerifyRule::new("tensor_rows", tensor_rows),
    VerifyRule::new("reduction_kind", reduction_kind),
    VerifyRule::new("tensor_map", tensor_map),
];

fn descriptor<'c>(check: &OpContext<'c>) -> Option<&'c TensorDescriptorType> {
    match check.group_type("desc")? {
        TileType::Descriptor(descriptor) => Some(descriptor),
        _ => None,
    }
}

/// Rule `tensor_copy(memory)`: checks a bulk tensor copy between the tensor of the descriptor `desc` and the shared
/// memory in the group `memory`. The layouts of descriptor and memory must agree, and each axis needs one coordinate.
fn tensor_copy(check: &OpContext<'_>, groups: &[String]) -> CheckResult {
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

/// Checks a copy through a descriptor of images (`im2col`). It needs at least three coordinates, and one offset for
/// each axis except the batch and the channel axis. `group` is the operand or result in shared memory.
fn check_image(check: &OpContext<'_>, group: &str, coordinates: usize, offsets: usize) -> CheckResult {
    ensure(coordinates >= 3, || format!("{coordinates} coordinates of an image: expected three at least"))?;
    ensure(offsets == coordinates - 2, || {
        format!("{offsets} offsets for {coordinates} coordinates of an image: expected {}", coordinates - 2)
    })?;
    check.memory_type(group).map_or(Ok(()), |memory| check_copied_layout(check, memory))
}

/// Rule of the type `!ttng.tensordesc_im2col`: checks that the descriptor's blocks have two axes. `parameters` is the
/// text in the angle brackets.
pub(super) fn check_image_descriptor(parameters: &str) -> CheckResult {
    let rank = parameters.split(',').next().unwrap_or_default().matches('x').count();
    ensure(rank == 2, || format!("it has blocks of {rank} axes: expected two"))
}

/// Checks that the shared memory in `group` has the layout of the descriptor, and that bulk tensor copies support this
/// layout.
fn check_shared_layout(check: &OpContext<'_>, group: &str, descriptor: &TensorDescriptorType) -> CheckResult {
    let Some(memory) = check.memory_type(group) else { return Ok(()) };
    let Some(own) = &descriptor.layout else {
        return Err(format!("the descriptor has no layout: expected that of memory, `{}`", memory.layout.text()));
    };
    // The descriptor's block may have more axes than the shared memory, so only the parameters that the copy uses are
    // compared.
    let parameters = |spec: &FamilySpec| {
        let bits = find_layout_integer_by_names(spec, ELEMENT_BITS).unwrap_or(8);
        (
            spec.name.clone(),
            find_layout_integer_by_names(spec, SWIZZLE),
            bits,
            read_layout_bool_parameter(spec, "transposed"),
            is_fp4_padded(spec),
        )
    };
    ensure(parameters(own.spec()) == parameters(memory.layout.spec()), || {
        format!("the descriptor has the layout `{}`, and memory `{}`: expected one", own.text(), memory.layout.text())
    })?;
    check_copied_layout(check, memory)
}

/// Checks that the operation, a bulk tensor copy, supports the layout of its shared memory. Copies from shared memory
/// support fewer layouts than copies to it, and a multicast needs a layout with replicas in several blocks.
fn check_copied_layout(check: &OpContext<'_>, memory: &MemDescType) -> CheckResult {
    let spec = memory.layout.spec();
    ensure(spec.name == "nvmma_shared", || {
        format!(
            "memory has the layout `{}`: expected `#ttg.nvmma_shared`, which bulk tensor copies write",
            memory.layout.text()
        )
    })?;
    let axes = find_layout_bases(spec, "cga_layout").and_then(|bases| bases.first().map(Vec::len));
    let axes =
        axes.or_else(|| find_layout_integer(spec, "rank").and_then(|rank| usize::try_from(rank).ok())).unwrap_or(2);
    ensure(axes == memory.shape.len(), || {
        format!("memory has {} axes, and its layout {axes}: expected as many", memory.shape.len())
    })?;
    ensure(!read_layout_bool_parameter(spec, "transposed"), || {
        "memory is transposed, which bulk tensor copies do not write".to_owned()
    })?;
    let name = check.operation().name();
    let is_load = ["ttng.async_tma_copy_global_to_local", "ttng.async_tma_gather"].contains(&name);
    ensure(name == "ttng.async_tma_copy_global_to_local" || !is_fp4_padded(spec), || {
        "padded elements of four bits can be loaded, and not stored".to_owned()
    })?;
    let is_cut = check.allocation_layout(memory).is_some_and(|part| part.has_blocks_without_elements());
    ensure(is_load || !is_cut, || {
        "memory is cut out of its allocation across blocks, which copies do not store".to_owned()
    })?;
    if check.is_attribute_set("multicast") {
        let blocks = find_layout_bases(spec, "cga_layout").unwrap_or_default();
        ensure(blocks.iter().any(|basis| basis.iter().all(|by| *by == 0)), || {
            "`multicast`: expected a layout that repeats over blocks, with a zero basis in `CGALayout`".to_owned()
        })?;
    }
    Ok(())
}

/// Rule `tensor_rows(memory)`: checks a gather or scatter of rows by bulk tensor copies. All lanes of a warp must hold
/// the same row indices (`x_offsets`), in groups of four adjacent ones, and the shared memory must have the layout of
/// the descriptor.
fn tensor_rows(check: &OpContext<'_>, groups: &[String]) -> CheckResult {
    if let (Some(group), Some(descriptor)) = (groups.first(), descriptor(check)) {
        let bits = descriptor.element.element_bits().unwrap_or(8);
        ensure(bits <= 32, || format!("elements of {bits} bits: expected 32 at most"))?;
        check_shared_layout(check, group, descriptor)?;
    }
    let Some(TileType::Tensor(indices)) = check.group_type("x_offsets") else { return Ok(()) };
    let Some(layout) = &indices.layout else { return Ok(()) };
    let Some(bases) = check.distributed_bases(layout, &indices.shape) else { return Ok(()) };
    ensure(bases.lanes.iter().flatten().all(|by| *by == 0), || {
        format!("the row indices `{}` differ between lanes: expected the same in each lane of a warp", layout.text())
    })?;
    ensure(bases.registers.starts_with(&[vec![1], vec![2]]), || {
        format!("the row indices `{}`: expected four adjacent ones in each lane", layout.text())
    })?;
    check_row_blocks(check, groups.first(), layout, &indices.shape)
}

/// Checks that each block of a cluster holds the row indices of its part of the shared memory. `layout` and `shape` are
/// those of the tensor of row indices; `memory` is the group in shared memory.
pub(super) fn check_row_blocks(
    check: &OpContext<'_>,
    memory: Option<&String>,
    layout: &LayoutAttribute,
    shape: &[u64],
) -> CheckResult {
    let Some(memory) = memory.and_then(|group| check.memory_type(group)) else { return Ok(()) };
    let Some(own) = check.distributed_bases(layout, shape) else { return Ok(()) };
    let given = find_layout_bases(memory.layout.spec(), "cga_layout").unwrap_or_default();
    // The bases of `CGALayout` count one block's part as one, while those of the row indices count rows. So the latter
    // are divided by the number of rows in a part.
    let moved = own.blocks.iter().filter(|basis| basis[0] != 0).count();
    let rows = shape.first().copied().unwrap_or(1) >> moved;
    let own: Vec<u64> = own.blocks.iter().map(|basis| basis[0] / rows.max(1)).collect();
    let given: Vec<u64> = given.iter().map(|basis| basis.first().copied().unwrap_or(0).unsigned_abs()).collect();
    ensure(own == given, || format!("blocks have other rows of memory than of the row indices `{}`", layout.text()))
}

/// Rule `reduction_kind(memory)`: checks that bulk tensor copies support the reduction `kind` for the element type of
/// the descriptor, or of `memory` if the operation has no descriptor.
fn reduction_kind(check: &OpContext<'_>, groups: &[String]) -> CheckResult {
    let Some(ty) = check.group_type("desc").or_else(|| check.group_type(groups.first()?)) else { return Ok(()) };
    let Some(kind) = check.text_attribute("kind") else { return Ok(()) };
    let (element, text) = (ty.element(), ty.element().to_string());
    let bits = element.element_bits().unwrap_or(0);
    let is_integer = matches!(element, TileType::Integer(..));
    let has = match kind {
        "add" if text == "si64" => false,
        "add" => (is_integer && (bits == 32 || bits == 64)) || ["f16", "bf16", "f32"].contains(&text.as_str()),
        "min" | "max" => (is_integer && (bits == 32 || bits == 64)) || ["f16", "bf16"].contains(&text.as_str()),
        "and" | "or" | "xor" => is_integer && (bits == 32 || bits == 64),
        "inc" | "dec" => false,
        _ => true,
    };
    ensure(has, || format!("`{kind}` of `{text}` is no reduction of bulk tensor copies"))
}

/// Rule `full_words` of `ttng.async_shared_store`: checks that each lane stores at least 32 bits to adjacent addresses
/// of the destination.
fn full_words(check: &OpContext<'_>, _: &[String]) -> CheckResult {
    let (Some(TileType::Tensor(source)), Some(memory)) = (check.group_type("src"), check.memory_type("dst")) else {
        return Ok(());
    };
    let bits = source.element.element_bits().unwrap_or(32).max(1);
    let (Some(layout), Some(part)) = (&source.layout, check.allocation_layout(memory)) else { return Ok(()) };
    let Some(bases) = check.distributed_bases(layout, &source.shape) else { return Ok(()) };
    let count = (32 / bits).max(1).ilog2() as usize;
    let offsets = part.bases_of(Dim::OFFSET);
    let fits = offsets.len() >= count && offsets[..count].iter().all(|basis| bases.registers.contains(basis));
    ensure(fits, || format!("the lanes of `{}` have fewer than 32 adjacent bits of the destination", layout.text()))
}

/// Rule `tensor_map` of `ttng.tensormap_create`: checks that each axis of the box has a size and a stride.
/// `global_stride` has one number fewer, since the fastest axis needs none.
fn tensor_map(check: &OpContext<'_>, _: &[String]) -> CheckResult {
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
