//! Defines the rules of operations that split, join or reorder the registers of each lane.

use tilewright_tile::TensorType;
use tilewright_tile::rules::{CheckResult, OpContext, VerifyRule, ensure, find_layout_integer_list};

/// The rules of `amdg`'s operations on registers.
pub(super) const RULES: [VerifyRule; 3] = [
    VerifyRule::new("concat", concat),
    VerifyRule::new("extract_slice", extract_slice),
    VerifyRule::new("in_thread_transpose", in_thread_transpose),
];

/// Returns the types of the first value in each of two groups of operands or results; `None` unless both are tensors.
pub(super) fn tensors<'c>(check: &OpContext<'c>, groups: [&str; 2]) -> Option<(&'c TensorType, &'c TensorType)> {
    Some((check.group_type(groups[0])?.as_tensor()?, check.group_type(groups[1])?.as_tensor()?))
}

/// Rule `concat` of `amdg.concat`: checks that the sources have the same type and together fill the result, and that
/// each element stays in its lane.
fn concat(check: &OpContext<'_>, _: &[String]) -> CheckResult {
    let sources = check.group_types("sources");
    let Some((part, full)) = tensors(check, ["sources", "result"]) else { return Ok(()) };
    ensure(sources.windows(2).all(|pair| pair[0] == pair[1]), || {
        "the sources differ in type: expected one".to_owned()
    })?;
    ensure(part.shape.len() == full.shape.len(), || {
        format!("{:?} and {:?} differ in their number of axes", part.shape, full.shape)
    })?;
    ensure(part.element == full.element, || {
        format!("elements of `{}` become `{}`, and must stay", part.element, full.element)
    })?;
    let fits = part.shape.iter().zip(&full.shape).all(|(part, full)| *part > 0 && full % part == 0);
    ensure(fits, || format!("{:?} is no multiple of {:?} along each axis", full.shape, part.shape))?;
    let count: u64 = full.shape.iter().zip(&part.shape).map(|(full, part)| full / part).product();
    ensure(count == sources.len() as u64, || {
        format!("{} tensors of {:?} for {:?}: expected {count}", sources.len(), part.shape, full.shape)
    })?;
    check_same_lanes(check, part, full)
}

/// Checks that the layouts of a smaller tensor and of the full tensor have the same bases of lanes, warps and blocks.
fn check_same_lanes(check: &OpContext<'_>, part: &TensorType, full: &TensorType) -> CheckResult {
    let (Some(own), Some(all)) = (&part.layout, &full.layout) else { return Ok(()) };
    let (Some(small), Some(large)) =
        (check.distributed_bases(own, &part.shape), check.distributed_bases(all, &full.shape))
    else {
        return Ok(());
    };
    ensure(small.lanes == large.lanes && small.warps == large.warps && small.blocks == large.blocks, || {
        format!("lanes and warps of `{}` and `{}` differ: expected the same", own.text(), all.text())
    })
}

/// Rule `extract_slice` of `amdg.extract_slice`: checks that the slice at `static_offsets` is within the source, and
/// that each of its elements stays in its lane.
fn extract_slice(check: &OpContext<'_>, _: &[String]) -> CheckResult {
    let Some((full, part)) = tensors(check, ["source", "result"]) else { return Ok(()) };
    ensure(part.element == full.element, || {
        format!("elements of `{}` become `{}`, and must stay", full.element, part.element)
    })?;
    ensure(part.shape.len() == full.shape.len(), || {
        format!("{:?} and {:?} differ in their number of axes", full.shape, part.shape)
    })?;
    let offsets = check.integer_list_attribute("static_offsets").unwrap_or_default();
    check_offsets(&offsets, part, full)?;
    check_same_lanes(check, part, full)?;
    let (Some(own), Some(all)) = (&part.layout, &full.layout) else { return Ok(()) };
    let (Some(small), Some(large)) =
        (check.distributed_bases(own, &part.shape), check.distributed_bases(all, &full.shape))
    else {
        return Ok(());
    };
    let begin: Vec<u64> = offsets.iter().map(|offset| offset.unsigned_abs()).collect();
    ensure(small.registers.iter().chain([&begin]).all(|element| spans(&large.registers, element)), || {
        format!("the part at {offsets:?} has elements that its lanes do not hold in `{}`", all.text())
    })
}

/// Checks that a slice with the shape of `part`, whose first element is at `offsets` (one for each axis), is within the
/// full tensor.
fn check_offsets(offsets: &[i64], part: &TensorType, full: &TensorType) -> CheckResult {
    ensure(offsets.len() == full.shape.len(), || format!("{} offsets for {} axes", offsets.len(), full.shape.len()))?;
    for (axis, offset) in offsets.iter().enumerate() {
        let begins = u64::try_from(*offset).ok();
        let end = begins.and_then(|begins| begins.checked_add(part.shape[axis]));
        ensure(end.is_some_and(|end| end <= full.shape[axis]), || {
            format!("{} elements from {offset} on along axis {axis}, which has {}", part.shape[axis], full.shape[axis])
        })?;
    }
    Ok(())
}

/// Whether some of the bases add up to the coordinates `element`. Each basis moves along one axis.
fn spans(bases: &[Vec<u64>], element: &[u64]) -> bool {
    element.iter().enumerate().all(|(axis, at)| {
        let reached = bases.iter().fold(0, |reached, basis| reached | basis.get(axis).copied().unwrap_or(0));
        at & !reached == 0
    })
}

/// Rule `in_thread_transpose` of `amdg.in_thread_transpose`: checks that the result's layout differs from the source's
/// only in the order of registers within each lane. The source's registers go along the contiguous axis first, the
/// result's along the other axis.
fn in_thread_transpose(check: &OpContext<'_>, _: &[String]) -> CheckResult {
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
    let (Some(source), Some(result)) =
        (check.distributed_bases(own, &from.shape), check.distributed_bases(given, &to.shape))
    else {
        return Ok(());
    };
    let (Some(per_lane), Some(order)) =
        (find_layout_integer_list(own.spec(), "size_per_thread"), find_layout_integer_list(own.spec(), "order"))
    else {
        return Ok(());
    };
    if order.len() != 2 || per_lane.len() != 2 {
        return Ok(());
    }
    let bits = |axis: i64| per_lane[axis as usize].unsigned_abs().max(1).ilog2() as usize;
    let (inner, outer) = (bits(order[0]), bits(order[1]));
    let mut registers = source.registers.clone();
    if registers.len() >= inner + outer {
        registers[..inner + outer].rotate_left(inner);
    }
    let is_same = registers == result.registers
        && source.lanes == result.lanes
        && source.warps == result.warps
        && source.blocks == result.blocks;
    ensure(is_same, || {
        format!(
            "the result's layout is `{}`: expected the registers of `{}` along the other axis first",
            given.text(),
            own.text()
        )
    })
}
