//! Defines the rules of copies between global and shared memory by a tensor data mover.

use tilewright_tile::rules::{Check, Checked, Rule, ensure, number, numbers, paddings};
use tilewright_tile::{MemDescType, TensorDescriptorType, TileType};

use super::tensor_copies::check_row_blocks;

/// The rules of `amdg`'s copies by descriptors.
pub(super) const RULES: [Rule; 4] = [
    Rule::new("update_descriptor", update_descriptor),
    Rule::new("tdm", tdm),
    Rule::new("tdm_fused", tdm_fused),
    Rule::new("tdm_rows", tdm_rows),
];

/// `update_descriptor` (`amdg.update_tensor_descriptor`): something changes, and changes have a number for each axis.
fn update_descriptor(check: &Check<'_>, _: &[String]) -> Checked {
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
    let clamps = check.is_set("clamp_bounds");
    ensure(!clamps || offsets > 0, || "`clamp_bounds` is of `add_offsets`, which is missing".to_owned())?;
    ensure(!clamps || bounds == 0, || "`clamp_bounds` and `set_bounds`: expected one of them".to_owned())
}

/// Checks that the tensor data mover copies to or from shared memory of this layout.
fn check_layout(check: &Check<'_>, group: &str) -> Checked {
    let Some(memory) = check.memory_type(group) else { return Ok(()) };
    let spec = memory.layout.spec();
    let text = memory.layout.text();
    let known = ["swizzled_shared", "padded_shared", "partitioned_shared", "shared_linear"];
    ensure(known.contains(&spec.name.as_str()), || {
        format!("memory has the layout `{text}`: expected `swizzled_shared` without swizzle, or `padded_shared`")
    })?;
    if spec.name == "swizzled_shared" {
        let phases = number(spec, "max_phase").unwrap_or(1);
        ensure(phases <= 1, || format!("memory is swizzled by `{text}`: expected `maxPhase = 1`"))?;
    }
    let bits = i64::from(memory.element.element_bits().unwrap_or(8));
    for pair in paddings(spec).unwrap_or_default() {
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

/// Checks the bits of the warps that take part in a copy.
fn check_hint(hint: i64, warps: Option<u64>) -> Checked {
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

/// `tdm(memory)`: shared memory has the layout of the descriptor whose block is copied to or from it.
fn tdm(check: &Check<'_>, groups: &[String]) -> Checked {
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
    let Some(given) = check.integer("warp_used_hint") else { return Ok(()) };
    check_hint(given, check.warps())?;
    check.memory_type(group).map_or(Ok(()), |memory| check_pieces(given, memory))
}

/// Checks that the descriptor and memory have one layout. Padded layouts have the shape of their tensor, so only their
/// gaps are compared.
fn check_same_layout(descriptor: &TensorDescriptorType, memory: &MemDescType) -> Checked {
    let Some(own) = &descriptor.layout else { return Ok(()) };
    let given = &memory.layout;
    let is_padded = [own, given].iter().all(|layout| layout.spec().name == "padded_shared");
    let less = descriptor.shape.len().saturating_sub(memory.shape.len());
    let is_reduced = less > 0
        && [own, given].iter().all(|layout| layout.spec().name == "swizzled_shared")
        && descriptor.shape[..less].iter().all(|size| *size == 1);
    let is_same = own == given || (is_padded && paddings(own.spec()) == paddings(given.spec())) || is_reduced;
    ensure(is_same, || {
        format!("the descriptor has the layout `{}`, and memory `{}`: expected one", own.text(), given.text())
    })
}

/// Checks that the warps of a copy to a partitioned layout have as many pieces each.
fn check_pieces(hint: i64, memory: &MemDescType) -> Checked {
    let spec = memory.layout.spec();
    if spec.name != "partitioned_shared" {
        return Ok(());
    }
    let [partitions, groups] = ["num_partitions", "num_groups"].map(|name| number(spec, name).unwrap_or(1));
    let pieces = partitions.saturating_mul(groups).max(1);
    let warps = i64::from((hint as u64 & u64::from(u32::MAX)).count_ones());
    ensure(warps % pieces == 0, || {
        format!("`warp_used_hint = {hint:#x}` names {warps} warps for {pieces} pieces: expected a multiple")
    })
}

/// Checks that memory that is stored has at most one padding, after each row of the block.
fn check_stored_padding(check: &Check<'_>, group: &str, block: &[u64]) -> Checked {
    let name = check.operation().name();
    if !name.ends_with("local_to_global") && !name.ends_with("scatter") {
        return Ok(());
    }
    let pairs = check.memory_type(group).and_then(|memory| paddings(memory.layout.spec())).unwrap_or_default();
    ensure(pairs.len() <= 1, || format!("memory has {} paddings: expected one", pairs.len()))?;
    let inner = block.last().copied().unwrap_or(0);
    ensure(pairs.iter().all(|pair| pair[0].unsigned_abs() == inner), || {
        format!("memory is padded every {} elements: expected {inner}, the last axis of a block", pairs[0][0])
    })
}

/// `tdm_fused` (`amdg.async_tdm_fused_copy_global_to_local`): different warps issue the copies.
fn tdm_fused(check: &Check<'_>, _: &[String]) -> Checked {
    let descriptors = check.group_types("descs");
    ensure((2..=4).contains(&descriptors.len()), || format!("{} copies: expected two to four", descriptors.len()))?;
    let hints = check.numbers("warp_used_hints").unwrap_or_default();
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

/// `tdm_rows(indices memory)`: rows of a tensor are copied at indices that the lanes of a warp share.
fn tdm_rows(check: &Check<'_>, groups: &[String]) -> Checked {
    let [indices, memory] = groups else { return Ok(()) };
    let rank = check.group_type("desc").and_then(TileType::shape).map_or(2, <[u64]>::len);
    ensure(rank == 2, || format!("the descriptor has {rank} axes: expected two"))?;
    check_layout(check, memory)?;
    if let (Some(TileType::Descriptor(descriptor)), Some(ty)) = (check.group_type("desc"), check.memory_type(memory)) {
        check_same_layout(descriptor, ty)?;
        check_stored_padding(check, memory, &descriptor.shape)?;
        check_gathered_padding(check, ty, &descriptor.shape)?;
    }
    if let Some(order) = check.memory_type(memory).and_then(|memory| numbers(memory.layout.spec(), "order")) {
        ensure(order.len() != 2 || order == [1, 0], || {
            format!("memory has `order = {order:?}`: expected rows, [1, 0]")
        })?;
    }
    let Some(TileType::Tensor(tensor)) = check.group_type(indices) else { return Ok(()) };
    ensure(tensor.shape.len() == 1, || format!("the row indices have {} axes: expected one", tensor.shape.len()))?;
    let Some(layout) = &tensor.layout else { return Ok(()) };
    let Some(bases) = check.bases(layout, &tensor.shape) else { return Ok(()) };
    ensure(bases.lanes.iter().flatten().all(|by| *by == 0), || {
        format!("the row indices `{}` differ between lanes: expected the same in each lane of a warp", layout.text())
    })?;
    let is_gather = check.operation().name().ends_with("gather");
    if is_gather { check_row_blocks(check, Some(memory), layout, &tensor.shape) } else { Ok(()) }
}

/// Checks that memory into which rows are gathered has at most one padding, within each row of the block.
fn check_gathered_padding(check: &Check<'_>, memory: &MemDescType, block: &[u64]) -> Checked {
    let pairs = paddings(memory.layout.spec()).unwrap_or_default();
    if !check.operation().name().ends_with("gather") || pairs.is_empty() {
        return Ok(());
    }
    let inner = block.last().copied().unwrap_or(0);
    let fits = pairs.len() == 1 && inner.is_multiple_of(pairs[0][0].unsigned_abs().max(1));
    ensure(fits, || {
        format!("memory has the paddings {pairs:?}: expected one, at an interval that divides rows of {inner} elements")
    })
}
