//! Defines the rules of copies between global and shared memory by gfx1250's tensor data mover (TDM).

use tilewright_tile::rules::{
    CheckResult, OpContext, VerifyRule, ensure, find_layout_integer, find_layout_integer_list,
    read_layout_padding_parameter,
};
use tilewright_tile::{MemDescType, TensorDescriptorType, TileType};

use super::tensor_copies::check_row_blocks;

/// The rules of `amdg`'s copies by tensor descriptors.
pub(super) const RULES: [VerifyRule; 4] = [
    VerifyRule::new("update_descriptor", update_descriptor),
    VerifyRule::new("tdm", tdm),
    VerifyRule::new("tdm_fused", tdm_fused),
    VerifyRule::new("tdm_rows", tdm_rows),
];

/// Rule `update_descriptor` of `amdg.update_tensor_descriptor`: checks that it has at least one of `add_offsets`,
/// `set_bounds` and `pred`. Offsets and bounds must have one number for each axis; `clamp_bounds` requires offsets and
/// excludes bounds.
fn update_descriptor(check: &OpContext<'_>, _: &[String]) -> CheckResult {
    let offsets = check.group_types("add_offsets").len();
    let bounds = check.group_types("set_bounds").len();
    let has_predicate = !check.group_types("pred").is_empty();
    ensure(offsets + bounds > 0 || has_predicate, || {
        "nothing changes: expected `add_offsets`, `set_bounds` or `pred`".to_owned()
    })?;
    let rank = check.group_type("desc").and_then(TileType::shape).map_or(offsets.max(bounds), <[u64]>::len);
    for (name, count) in [("add_offsets", offsets), ("set_bounds", bounds)] {
        ensure(count == 0 || count == rank, || {
            format!("`{name}` has {count} numbers: expected {rank}, one for each axis")
        })?;
    }
    let clamps = check.is_attribute_set("clamp_bounds");
    ensure(!clamps || offsets > 0, || "`clamp_bounds` is of `add_offsets`, which is missing".to_owned())?;
    ensure(!clamps || bounds == 0, || "`clamp_bounds` and `set_bounds`: expected one of them".to_owned())
}

/// Checks that the tensor data mover supports the layout of the shared memory in `group`: it must have no swizzle, and
/// padding must have at least 32 bits and follow intervals of at least 64 bits.
fn check_layout(check: &OpContext<'_>, group: &str) -> CheckResult {
    let Some(memory) = check.memory_type(group) else { return Ok(()) };
    let spec = memory.layout.spec();
    let text = memory.layout.text();
    let known = ["swizzled_shared", "padded_shared", "partitioned_shared", "shared_linear"];
    ensure(known.contains(&spec.name.as_str()), || {
        format!("memory has the layout `{text}`: expected `swizzled_shared` without swizzle, or `padded_shared`")
    })?;
    if spec.name == "swizzled_shared" {
        let phases = find_layout_integer(spec, "max_phase").unwrap_or(1);
        ensure(phases <= 1, || format!("memory is swizzled by `{text}`: expected `maxPhase = 1`"))?;
    }
    let bits = i64::from(memory.element.element_bits().unwrap_or(8));
    for pair in read_layout_padding_parameter(spec).unwrap_or_default() {
        let [interval, padding] = pair[..] else { continue };
        ensure(interval.saturating_mul(bits) >= 64, || {
            format!("an interval of {interval} elements of {bits} bits: expected at least 64 bits")
        })?;
        ensure(padding.saturating_mul(bits) >= 32, || {
            format!("a padding of {padding} elements of {bits} bits: expected at least 32 bits")
        })?;
    }
    Ok(())
}

/// Checks `hint`, a mask of the warps that take part in a copy. The warps must exist, their number must be a power of
/// two, and their indices must differ in as few bits as that number allows. `warps` is the number of warps of the
/// program; `None` if it is unknown.
fn check_hint(hint: i64, warps: Option<u64>) -> CheckResult {
    ensure(hint != 0, || "`warp_used_hint = 0`: expected one warp at least".to_owned())?;
    let bits = hint as u64 & u64::from(u32::MAX);
    if let Some(warps) = warps {
        ensure(warps >= 64 || bits >> warps == 0, || {
            format!("`warp_used_hint = {hint:#x}` names warps beyond the {warps} that there are")
        })?;
    }
    let count = bits.count_ones();
    ensure(count.is_power_of_two(), || {
        format!("`warp_used_hint = {hint:#x}` names {count} warps: expected a power of two")
    })?;
    let first = bits.trailing_zeros();
    let numbers = (0..64).filter(|bit| bits >> bit & 1 == 1);
    let differ = numbers.fold(0, |differ, bit: u32| differ | (bit ^ first));
    ensure(differ.count_ones() == count.ilog2(), || {
        format!("`warp_used_hint = {hint:#x}`: expected warps whose numbers differ in {} bits", count.ilog2())
    })
}

/// Rule `tdm(memory)`: checks a copy of a descriptor's block to or from the shared memory in the group `memory`. The
/// memory must have the descriptor's layout, which the tensor data mover must support, and `warp_used_hint` must be a
/// valid mask of warps.
fn tdm(check: &OpContext<'_>, groups: &[String]) -> CheckResult {
    let Some(group) = groups.first() else { return Ok(()) };
    if let Some(TileType::Descriptor(descriptor)) = check.group_type("desc") {
        if let Some((axis, size)) = descriptor.shape.iter().enumerate().find(|(_, size)| **size > 65_535) {
            return Err(format!("the block has {size} elements along axis {axis}: expected at most 65535"));
        }
        check_layout(check, group)?;
        if let Some(memory) = check.memory_type(group) {
            check_same_layout(descriptor, memory)?;
        }
        check_stored_padding(check, group, &descriptor.shape)?;
    }
    let Some(given) = check.integer_attribute("warp_used_hint") else { return Ok(()) };
    check_hint(given, check.warps())?;
    check.memory_type(group).map_or(Ok(()), |memory| check_pieces(given, memory))
}

/// Checks that descriptor and memory have the same layout. Of padded layouts only the paddings are compared, since
/// other parameters depend on the shape. Unpadded layouts may differ if the memory lacks leading axes of size 1.
fn check_same_layout(descriptor: &TensorDescriptorType, memory: &MemDescType) -> CheckResult {
    let Some(own) = &descriptor.layout else { return Ok(()) };
    let given = &memory.layout;
    let is_padded = [own, given].iter().all(|layout| layout.spec().name == "padded_shared");
    let less = descriptor.shape.len().saturating_sub(memory.shape.len());
    let is_reduced = less > 0
        && [own, given].iter().all(|layout| layout.spec().name == "swizzled_shared")
        && descriptor.shape[..less].iter().all(|size| *size == 1);
    let is_same = own == given
        || (is_padded && read_layout_padding_parameter(own.spec()) == read_layout_padding_parameter(given.spec()))
        || is_reduced;
    ensure(is_same, || {
        format!("the descriptor has the layout `{}`, and memory `{}`: expected one", own.text(), given.text())
    })
}

/// Checks that the number of warps in the mask `hint` is a multiple of the number of pieces of a `partitioned_shared`
/// layout. Other layouts pass.
fn check_pieces(hint: i64, memory: &MemDescType) -> CheckResult {
    let spec = memory.layout.spec();
    if spec.name != "partitioned_shared" {
        return Ok(());
    }
    let [partitions, groups] =
        ["num_partitions", "num_groups"].map(|name| find_layout_integer(spec, name).unwrap_or(1));
    let pieces = partitions.saturating_mul(groups).max(1);
    let warps = i64::from((hint as u64 & u64::from(u32::MAX)).count_ones());
    ensure(warps % pieces == 0, || {
        format!("`warp_used_hint = {hint:#x}` names {warps} warps for {pieces} pieces: expected a multiple")
    })
}

/// Checks the padding that a copy from shared to global memory skips: at most one, after each row of `block`. Copies to
/// shared memory pass.
fn check_stored_padding(check: &OpContext<'_>, group: &str, block: &[u64]) -> CheckResult {
    let name = check.operation().name();
    if !name.ends_with("local_to_global") && !name.ends_with("scatter") {
        return Ok(());
    }
    let pairs = check
        .memory_type(group)
        .and_then(|memory| read_layout_padding_parameter(memory.layout.spec()))
        .unwrap_or_default();
    ensure(pairs.len() <= 1, || format!("memory has {} paddings: expected one", pairs.len()))?;
    let inner = block.last().copied().unwrap_or(0);
    ensure(pairs.iter().all(|pair| pair[0].unsigned_abs() == inner), || {
        format!("memory is padded every {} elements: expected {inner}, the last axis of a block", pairs[0][0])
    })
}

/// Rule `tdm_fused` of `amdg.async_tdm_fused_copy_global_to_local`: checks that two to four copies are issued by
/// disjoint sets of warps, through descriptors with the same number of axes.
fn tdm_fused(check: &OpContext<'_>, _: &[String]) -> CheckResult {
    let descriptors = check.group_types("descs");
    ensure((2..=4).contains(&descriptors.len()), || format!("{} copies: expected two to four", descriptors.len()))?;
    let hints = check.integer_list_attribute("warp_used_hints").unwrap_or_default();
    ensure(hints.len() == descriptors.len(), || {
        format!("{} hints for {} copies: expected one for each", hints.len(), descriptors.len())
    })?;
    hints.iter().try_for_each(|given| check_hint(*given, check.warps()))?;
    let sum = hints.iter().fold(0u64, |all, hint| all.saturating_add(hint.unsigned_abs()));
    let union = hints.iter().fold(0u64, |all, hint| all | hint.unsigned_abs());
    ensure(sum == union, || format!("`warp_used_hints = {hints:?}`: a warp takes part in two copies"))?;
    for (descriptor, memory) in descriptors.iter().zip(check.group_types("dests")) {
        let (TileType::Descriptor(descriptor), Some(memory)) = (descriptor, memory.as_memory()) else { continue };
        check_same_layout(descriptor, memory)?;
    }
    let ranks: Vec<usize> = descriptors.iter().map(|ty| ty.shape().map_or(0, <[u64]>::len)).collect();
    ensure(ranks.windows(2).all(|pair| pair[0] == pair[1]), || {
        format!("descriptors of {ranks:?} axes: expected one number")
    })
}

/// Rule `tdm_rows(indices memory)`: checks a gather or scatter of rows of a matrix. All lanes of a warp must hold the
/// same row indices, and the shared memory in the group `memory` must have the descriptor's layout.
fn tdm_rows(check: &OpContext<'_>, groups: &[String]) -> CheckResult {
    let [indices, memory] = groups else { return Ok(()) };
    let rank = check.group_type("desc").and_then(TileType::shape).map_or(2, <[u64]>::len);
    ensure(rank == 2, || format!("the descriptor has {rank} axes: expected two"))?;
    check_layout(check, memory)?;
    if let (Some(TileType::Descriptor(descriptor)), Some(ty)) = (check.group_type("desc"), check.memory_type(memory)) {
        check_same_layout(descriptor, ty)?;
        check_stored_padding(check, memory, &descriptor.shape)?;
        check_gathered_padding(check, ty, &descriptor.shape)?;
    }
    if let Some(order) =
        check.memory_type(memory).and_then(|memory| find_layout_integer_list(memory.layout.spec(), "order"))
    {
        ensure(order.len() != 2 || order == [1, 0], || {
            format!("memory has `order = {order:?}`: expected rows, [1, 0]")
        })?;
    }
    let Some(TileType::Tensor(tensor)) = check.group_type(indices) else { return Ok(()) };
    ensure(tensor.shape.len() == 1, || format!("the row indices have {} axes: expected one", tensor.shape.len()))?;
    let Some(layout) = &tensor.layout else { return Ok(()) };
    let Some(bases) = check.distributed_bases(layout, &tensor.shape) else { return Ok(()) };
    ensure(bases.lanes.iter().flatten().all(|by| *by == 0), || {
        format!("the row indices `{}` differ between lanes: expected the same in each lane of a warp", layout.text())
    })?;
    let is_gather = check.operation().name().ends_with("gather");
    if is_gather { check_row_blocks(check, Some(memory), layout, &tensor.shape) } else { Ok(()) }
}

/// Checks the padding that a gather writes to shared memory: at most one, at an interval that divides a row of `block`.
/// Other operations pass.
fn check_gathered_padding(check: &OpContext<'_>, memory: &MemDescType, block: &[u64]) -> CheckResult {
    let pairs = read_layout_padding_parameter(memory.layout.spec()).unwrap_or_default();
    if !check.operation().name().ends_with("gather") || pairs.is_empty() {
        return Ok(());
    }
    let inner = block.last().copied().unwrap_or(0);
    let fits = pairs.len() == 1 && inner.is_multiple_of(pairs[0][0].unsigned_abs().max(1));
    ensure(fits, || {
        format!("memory has the paddings {pairs:?}: expected one, at an interval that divides rows of {inner} elements")
    })
}
