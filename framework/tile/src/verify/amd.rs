//! Rules of AMD's operations on registers and descriptors.

use super::layouts::{numbers, paddings};
use super::{Check, Checked, ensure};
use crate::{LayoutName, TensorType, TileType};

/// Registers, lanes, and warps with blocks of a layout, as bases.
type Parts = (Vec<Vec<u64>>, Vec<Vec<u64>>, Vec<Vec<u64>>);

fn parts(check: &Check<'_>, layout: &LayoutName, shape: &[u64]) -> Option<Parts> {
    let (lanes, registers) = check.lanes_and_registers(layout, shape)?;
    let (mut warps, blocks) = check.warps_and_blocks(layout, shape)?;
    warps.extend(blocks);
    Some((registers, lanes, warps))
}

/// `buffer(values)`: buffer accesses: pointees are the elements of the values, and offsets have their shape.
pub(super) fn buffer(check: &Check<'_>, groups: &[String]) -> Checked {
    let (Some(TileType::Pointer(pointer)), Some(offsets)) = (check.group_type("ptr"), check.group_type("offsets"))
    else {
        return Ok(());
    };
    let Some(group) = groups.first() else { return Ok(()) };
    let Some(values) = check.group_type(group) else { return Ok(()) };
    ensure(pointer.pointee == *values.element(), || {
        format!("`{group}` has elements of `{}`, and the pointer points to `{}`", values.element(), pointer.pointee)
    })?;
    ensure(*offsets.element() == TileType::integer(32), || {
        format!("the offsets are `{offsets}`: expected elements of i32")
    })?;
    if values.as_memory().is_some() {
        return Ok(());
    }
    ensure(offsets.shape() == values.shape() && offsets.layout() == values.layout(), || {
        format!("offsets of `{offsets}` for `{values}`: expected one shape and layout")
    })
}

fn tensors<'c>(check: &'c Check<'_>, groups: [&str; 2]) -> Option<(&'c TensorType, &'c TensorType)> {
    Some((check.group_type(groups[0])?.as_tensor()?, check.group_type(groups[1])?.as_tensor()?))
}

/// `amdg.concat`: equal tensors side by side.
pub(super) fn concat(check: &Check<'_>, _: &[String]) -> Checked {
    let sources = check.group_types("sources");
    let Some((part, whole)) = tensors(check, ["sources", "result"]) else { return Ok(()) };
    ensure(sources.windows(2).all(|pair| pair[0] == pair[1]), || {
        "the sources differ in type: expected one".to_owned()
    })?;
    ensure(part.shape.len() == whole.shape.len(), || {
        format!("{:?} and {:?} differ in their number of axes", part.shape, whole.shape)
    })?;
    ensure(part.element == whole.element, || {
        format!("elements of `{}` become `{}`, and must stay", part.element, whole.element)
    })?;
    let fits = part.shape.iter().zip(&whole.shape).all(|(part, whole)| *part > 0 && whole % part == 0);
    ensure(fits, || format!("{:?} is no multiple of {:?} along each axis", whole.shape, part.shape))?;
    let count: u64 = whole.shape.iter().zip(&part.shape).map(|(whole, part)| whole / part).product();
    ensure(count == sources.len() as u64, || {
        format!("{} tensors of {:?} for {:?}: expected {count}", sources.len(), part.shape, whole.shape)
    })?;
    same_lanes(check, part, whole)
}

/// Lanes and warps of a part are those of the whole.
fn same_lanes(check: &Check<'_>, part: &TensorType, whole: &TensorType) -> Checked {
    let (Some(own), Some(all)) = (&part.layout, &whole.layout) else { return Ok(()) };
    let (Some(small), Some(large)) = (parts(check, own, &part.shape), parts(check, all, &whole.shape)) else {
        return Ok(());
    };
    ensure(small.1 == large.1 && small.2 == large.2, || {
        format!("lanes and warps of `{}` and `{}` differ: expected the same", own.text(), all.text())
    })
}

/// `amdg.extract_slice`: a part of a tensor that each lane has in its registers.
pub(super) fn extract_slice(check: &Check<'_>, _: &[String]) -> Checked {
    let Some((whole, part)) = tensors(check, ["source", "result"]) else { return Ok(()) };
    ensure(part.element == whole.element, || {
        format!("elements of `{}` become `{}`, and must stay", whole.element, part.element)
    })?;
    ensure(part.shape.len() == whole.shape.len(), || {
        format!("{:?} and {:?} differ in their number of axes", whole.shape, part.shape)
    })?;
    let offsets = check.numbers("static_offsets").unwrap_or_default();
    ensure(offsets.len() == whole.shape.len(), || format!("{} offsets for {} axes", offsets.len(), whole.shape.len()))?;
    for (axis, offset) in offsets.iter().enumerate() {
        let begins = u64::try_from(*offset).ok();
        let end = begins.and_then(|begins| begins.checked_add(part.shape[axis]));
        ensure(end.is_some_and(|end| end <= whole.shape[axis]), || {
            format!("{} elements from {offset} on along axis {axis}, which has {}", part.shape[axis], whole.shape[axis])
        })?;
    }
    same_lanes(check, part, whole)?;
    let (Some(own), Some(all)) = (&part.layout, &whole.layout) else { return Ok(()) };
    let (Some(small), Some(large)) = (parts(check, own, &part.shape), parts(check, all, &whole.shape)) else {
        return Ok(());
    };
    let begin: Vec<u64> = offsets.iter().map(|offset| offset.unsigned_abs()).collect();
    ensure(small.0.iter().chain([&begin]).all(|element| spans(&large.0, element)), || {
        format!("the part at {offsets:?} has elements that its lanes do not hold in `{}`", all.text())
    })
}

/// Whether an element is a sum of bases, each of which moves along one axis.
fn spans(bases: &[Vec<u64>], element: &[u64]) -> bool {
    element.iter().enumerate().all(|(axis, at)| {
        let reached = bases.iter().fold(0, |reached, basis| reached | basis.get(axis).copied().unwrap_or(0));
        at & !reached == 0
    })
}

/// `amdg.in_thread_transpose`: the registers of each lane in the other order.
pub(super) fn in_thread_transpose(check: &Check<'_>, _: &[String]) -> Checked {
    let Some((from, to)) = tensors(check, ["src", "result"]) else { return Ok(()) };
    ensure(from.shape == to.shape, || format!("{:?} becomes {:?}: expected one shape", from.shape, to.shape))?;
    ensure(from.element == to.element, || {
        format!("elements of `{}` become `{}`, and must stay", from.element, to.element)
    })?;
    ensure(from.shape.len() == 2, || format!("a tensor of {} axes: expected two", from.shape.len()))?;
    let (Some(own), Some(given)) = (&from.layout, &to.layout) else { return Ok(()) };
    ensure(own.spec().name == "blocked", || {
        format!("the operand's layout is `{}`: expected `#ttg.blocked`", own.text())
    })?;
    let (Some(source), Some(result)) = (parts(check, own, &from.shape), parts(check, given, &to.shape)) else {
        return Ok(());
    };
    let (Some(per_lane), Some(order)) = (numbers(own.spec(), "size_per_thread"), numbers(own.spec(), "order")) else {
        return Ok(());
    };
    if order.len() != 2 || per_lane.len() != 2 {
        return Ok(());
    }
    let bits = |axis: i64| per_lane[axis as usize].unsigned_abs().max(1).ilog2() as usize;
    let (inner, outer) = (bits(order[0]), bits(order[1]));
    let mut registers = source.0.clone();
    if registers.len() >= inner + outer {
        registers[..inner + outer].rotate_left(inner);
    }
    ensure(registers == result.0 && source.1 == result.1 && source.2 == result.2, || {
        format!(
            "the result's layout is `{}`: expected the registers of `{}` along the other axis first",
            given.text(),
            own.text()
        )
    })
}

/// `amdg.scaled_upcast_fp4` and `amdg.scaled_upcast_fp8`: shapes of elements, scales and results.
pub(super) fn scaled(check: &Check<'_>, groups: &[String]) -> Checked {
    let Some((input, output)) = tensors(check, ["input", "output"]) else { return Ok(()) };
    let Some(scale) = check.group_type("scale").and_then(TileType::as_tensor) else { return Ok(()) };
    let rank = output.shape.len();
    ensure(scale.shape.len() == rank && input.shape.len() == rank, || {
        format!("{:?}, scales of {:?} and {:?} differ in their number of axes", input.shape, scale.shape, output.shape)
    })?;
    if groups.first().is_none_or(|word| word != "packed") {
        return ensure(input.shape == output.shape && scale.shape == output.shape, || {
            format!("{:?} with scales of {:?} become {:?}: expected one shape", input.shape, scale.shape, output.shape)
        });
    }
    let axis = check.integer("axis").and_then(|axis| usize::try_from(axis).ok()).filter(|axis| *axis < rank);
    let Some(axis) = axis else {
        return Err(format!("there is no axis {}: expected one below {rank}", check.integer("axis").unwrap_or(-1)));
    };
    for at in 0..rank {
        let expected = if at == axis { input.shape[at].saturating_mul(2) } else { input.shape[at] };
        ensure(output.shape[at] == expected, || {
            format!("pairs of {:?} become {:?}: expected {expected} along axis {at}", input.shape, output.shape)
        })?;
        ensure(at == axis || scale.shape[at] == output.shape[at], || {
            format!("scales of {:?} for {:?}: expected one shape but along axis {axis}", scale.shape, output.shape)
        })?;
    }
    Ok(())
}

/// `amdg.scaled_downcast_fp4` (`packed`: two results in a byte) and `amdg.scaled_downcast_fp8`: shapes of elements,
/// scales and results.
pub(super) fn scaled_down(check: &Check<'_>, groups: &[String]) -> Checked {
    let Some((input, output)) = tensors(check, ["input", "output"]) else { return Ok(()) };
    let Some(scale) = check.group_type("scale").and_then(TileType::as_tensor) else { return Ok(()) };
    let is_packed = groups.first().is_some_and(|word| word == "packed");
    let rank = input.shape.len();
    ensure(scale.shape.len() == rank && output.shape.len() == rank, || {
        format!("{:?}, scales of {:?} and {:?} differ in their number of axes", input.shape, scale.shape, output.shape)
    })?;
    let given = check.integer("axis").unwrap_or(-1);
    let Some(axis) = usize::try_from(given).ok().filter(|axis| *axis < rank) else {
        return Err(format!("there is no axis {given}: expected one below {rank}"));
    };
    let mut expected = input.shape.clone();
    if is_packed {
        expected[axis] /= 2;
    }
    ensure(output.shape == expected, || {
        format!("{:?} becomes {:?}: expected {expected:?}", input.shape, output.shape)
    })?;
    let matches = |at: usize| at == axis || scale.shape[at] == output.shape[at];
    ensure((0..rank).all(matches), || {
        format!("scales of {:?} for {:?}: expected one shape but along axis {axis}", scale.shape, output.shape)
    })?;
    let (results, count) = (output.shape[axis], scale.shape[axis]);
    ensure(count > 0 && results.is_multiple_of(count), || {
        format!("{count} scales for {results} results along axis {axis}: expected a divisor")
    })?;
    let least = if is_packed { 4 } else { 8 };
    ensure((results / count).is_multiple_of(least), || {
        format!("a scale for {} results along axis {axis}: expected a multiple of {least}", results / count)
    })
}

/// `amdg.update_tensor_descriptor`: what changes, with a number for each axis.
pub(super) fn update_descriptor(check: &Check<'_>, _: &[String]) -> Checked {
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

/// The layouts of shared memory that TDM copies.
fn tdm_layout(check: &Check<'_>, group: &str) -> Checked {
    let Some(memory) = check.memory_type(group) else { return Ok(()) };
    let spec = memory.layout.spec();
    let text = memory.layout.text();
    let known = ["swizzled_shared", "padded_shared", "partitioned_shared", "shared_linear"];
    ensure(known.contains(&spec.name.as_str()), || {
        format!("memory has the layout `{text}`: expected `swizzled_shared` without swizzle, or `padded_shared`")
    })?;
    if spec.name == "swizzled_shared" {
        let phases = super::layouts::number(spec, "max_phase").unwrap_or(1);
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

/// Bits of the warps that take part in a copy.
fn hint(hint: i64, warps: Option<u64>) -> Checked {
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

/// `tdm(memory)`: a copy of a descriptor's block to or from shared memory.
pub(super) fn tdm(check: &Check<'_>, groups: &[String]) -> Checked {
    let Some(group) = groups.first() else { return Ok(()) };
    if let Some(TileType::Descriptor(descriptor)) = check.group_type("desc") {
        if let Some((axis, size)) = descriptor.shape.iter().enumerate().find(|(_, size)| **size > 65_535) {
            return Err(format!("the block has {size} elements along axis {axis}: expected at most 65535"));
        }
        tdm_layout(check, group)?;
        if let (Some(own), Some(memory)) = (&descriptor.layout, check.memory_type(group)) {
            ensure(*own == memory.layout, || {
                format!(
                    "the descriptor has the layout `{}`, and memory `{}`: expected one",
                    own.text(),
                    memory.layout.text()
                )
            })?;
        }
        if check.operation.name().ends_with("local_to_global") {
            let pairs = check.memory_type(group).and_then(|memory| paddings(memory.layout.spec())).unwrap_or_default();
            ensure(pairs.len() <= 1, || format!("memory has {} paddings: expected one", pairs.len()))?;
            let inner = descriptor.shape.last().copied().unwrap_or(0);
            ensure(pairs.iter().all(|pair| pair[0].unsigned_abs() == inner), || {
                format!("memory is padded every {} elements: expected {inner}, the last axis of a block", pairs[0][0])
            })?;
        }
    }
    check.integer("warp_used_hint").map_or(Ok(()), |given| hint(given, check.context.warps_of(check.op)))
}

/// `amdg.async_tdm_fused_copy_global_to_local`: copies by different warps.
pub(super) fn tdm_fused(check: &Check<'_>, _: &[String]) -> Checked {
    let descriptors = check.group_types("descs");
    ensure((2..=4).contains(&descriptors.len()), || format!("{} copies: expected two to four", descriptors.len()))?;
    let hints = check.numbers("warp_used_hints").unwrap_or_default();
    ensure(hints.len() == descriptors.len(), || {
        format!("{} hints for {} copies: expected one for each", hints.len(), descriptors.len())
    })?;
    hints.iter().try_for_each(|given| hint(*given, check.context.warps_of(check.op)))?;
    let sum = hints.iter().fold(0u64, |all, hint| all.saturating_add(hint.unsigned_abs()));
    let union = hints.iter().fold(0u64, |all, hint| all | hint.unsigned_abs());
    ensure(sum == union, || format!("`warp_used_hints = {hints:?}`: a warp takes part in two copies"))?;
    for (descriptor, memory) in descriptors.iter().zip(check.group_types("dests")) {
        let (TileType::Descriptor(descriptor), Some(memory)) = (descriptor, memory.as_memory()) else { continue };
        let Some(own) = &descriptor.layout else { continue };
        ensure(*own == memory.layout, || {
            let (own, given) = (own.text(), memory.layout.text());
            format!("a descriptor has the layout `{own}`, and its memory `{given}`: expected one")
        })?;
    }
    let ranks: Vec<usize> = descriptors.iter().map(|ty| ty.shape().map_or(0, <[u64]>::len)).collect();
    ensure(ranks.windows(2).all(|pair| pair[0] == pair[1]), || {
        format!("descriptors of {ranks:?} axes: expected one number")
    })
}

/// `tdm_rows(indices memory)`: rows of a tensor at indices that the lanes of a warp share.
pub(super) fn tdm_rows(check: &Check<'_>, groups: &[String]) -> Checked {
    let [indices, memory] = groups else { return Ok(()) };
    let rank = check.group_type("desc").and_then(TileType::shape).map_or(2, <[u64]>::len);
    ensure(rank == 2, || format!("the descriptor has {rank} axes: expected two"))?;
    tdm_layout(check, memory)?;
    if let Some(order) = check.memory_type(memory).and_then(|memory| numbers(memory.layout.spec(), "order")) {
        ensure(order.len() != 2 || order == [1, 0], || {
            format!("memory has `order = {order:?}`: expected rows, [1, 0]")
        })?;
    }
    let Some(TileType::Tensor(tensor)) = check.group_type(indices) else { return Ok(()) };
    ensure(tensor.shape.len() == 1, || format!("the row indices have {} axes: expected one", tensor.shape.len()))?;
    let Some(layout) = &tensor.layout else { return Ok(()) };
    let Some((lanes, _)) = check.lanes_and_registers(layout, &tensor.shape) else { return Ok(()) };
    ensure(lanes.iter().flatten().all(|by| *by == 0), || {
        format!("the row indices `{}` differ between lanes: expected the same in each lane of a warp", layout.text())
    })
}

/// `amdg.local_load_packed_transposed`: elements packed along the other axis in memory than in registers.
pub(super) fn packed_transposed(check: &Check<'_>, _: &[String]) -> Checked {
    let (Some(memory), Some(result)) = (check.memory_type("src"), check.group_type("result")) else { return Ok(()) };
    let Some(TensorType { shape, layout: Some(layout), .. }) = result.as_tensor() else { return Ok(()) };
    let spec = layout.spec();
    ensure(spec.name == "dot_op" || spec.name == "dot_operand", || {
        format!("the result's layout is `{}`: expected `#ttg.dot_op`", layout.text())
    })?;
    let index =
        super::layouts::number(spec, "op_idx").or_else(|| super::layouts::number(spec, "operand_index")).unwrap_or(0);
    let expected = if index == 0 { [0, 1] } else { [1, 0] };
    if let Some(order) = numbers(memory.layout.spec(), "order") {
        ensure(order == expected, || format!("memory has `order = {order:?}`: expected {expected:?}"))?;
    }
    let [rows, columns] = memory.shape[..] else { return Ok(()) };
    let unpacked = if index == 0 { [rows * 2, columns / 2] } else { [rows / 2, columns * 2] };
    ensure(shape[..] == unpacked, || format!("memory of {:?} becomes {shape:?}: expected {unpacked:?}", memory.shape))
}

/// `amdg.buffer_load_to_local`: the values of lanes that load nothing.
pub(super) fn buffer_other(check: &Check<'_>, _: &[String]) -> Checked {
    let (Some(other), Some(offsets)) = (check.group_type("other"), check.group_type("offsets")) else { return Ok(()) };
    let Some(TileType::Pointer(pointer)) = check.group_type("ptr") else { return Ok(()) };
    let expected = offsets.with_element(pointer.pointee.clone());
    ensure(*other == expected, || format!("`other` is a `{other}`: expected `{expected}`"))
}

/// `amdg.buffer_load_to_local`: the targets that copy to shared memory without registers.
pub(super) fn buffer_target(check: &Check<'_>, _: &[String]) -> Checked {
    let Some(target) = check.context.target.as_deref().and_then(|target| target.strip_prefix("hip:")) else {
        return Ok(());
    };
    ensure(["gfx942", "gfx950", "gfx1250"].contains(&target), || {
        format!("`{target}` does not copy to shared memory: expected gfx942, gfx950 or gfx1250")
    })
}
