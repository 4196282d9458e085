//! Checks the layout of a result against the one inferred from the operands, with one function for each rule.
//!
//! Written and inferred layouts are compared as Triton compares them: equal attributes, or attributes of the same
//! linear layout. If no given family builds one of two different layouts, the verifier accepts both.

use tilewright_layout::FamilySpec;

use super::bases::Bases;
use super::layout_parameters::{element_count_of_bases, find_layout_integer};
use super::{CheckResult, OpContext, ensure};
use crate::{Attribute, LayoutAttribute, MemDescType, TensorType, TileType};

/// Returns the slice of a layout along an axis: the layout without this axis.
fn slice_of(parent: &FamilySpec, axis: usize) -> FamilySpec {
    FamilySpec::new("slice").with_parameter("dim", axis as i64).with_parent(parent.clone())
}

/// Returns the text of a layout for messages, in backquotes; `no layout` for `None`.
pub(super) fn layout_text(layout: Option<&LayoutAttribute>) -> String {
    layout.map_or_else(|| "no layout".to_owned(), |layout| format!("`{}`", layout.text()))
}

/// Returns whether both tensors have a layout; an error if only one has.
fn both(from: Option<&LayoutAttribute>, to: Option<&LayoutAttribute>) -> Result<bool, String> {
    ensure(from.is_some() == to.is_some(), || {
        format!(
            "the operand has {}, and the result {}: expected both to have a layout, or neither",
            layout_text(from),
            layout_text(to)
        )
    })?;
    Ok(from.is_some())
}

impl OpContext<'_> {
    /// Returns the types of the first operand and the first result; `None` unless both are tensors.
    fn tensors(&self) -> Option<(&TensorType, &TensorType)> {
        let operand = self.operation.operands.first().and_then(|value| self.value_type(*value).as_tensor())?;
        Some((operand, self.result_type()?.as_tensor()?))
    }

    fn memories(&self) -> Option<(&MemDescType, &MemDescType)> {
        let operand = self.operation.operands.first().and_then(|value| self.value_type(*value).as_memory())?;
        Some((operand, self.result_type()?.as_memory()?))
    }

    fn axis_attribute(&self) -> Option<usize> {
        self.integer_attribute("axis").and_then(|axis| usize::try_from(axis).ok())
    }

    fn order_attribute(&self) -> Option<Vec<usize>> {
        match self.operation.attributes.get("order") {
            Some(Attribute::Array(_, order)) => Some(order.iter().map(|axis| *axis as usize).collect()),
            _ => None,
        }
    }
}

/// Checks `tt.expand_dims`: the operand's layout is a slice along the new axis, and the result's is its parent.
pub(super) fn expand_dims(check: &OpContext<'_>, _: &[String]) -> CheckResult {
    let (Some((from, to)), Some(axis)) = (check.tensors(), check.axis_attribute()) else { return Ok(()) };
    if !both(from.layout.as_ref(), to.layout.as_ref())? {
        return Ok(());
    }
    let (Some(source), Some(result)) = (&from.layout, &to.layout) else { return Ok(()) };
    let spec = source.spec();
    // A layout that is to be inferred stays so.
    if spec.name == "auto_encoding" && source == result {
        return Ok(());
    }
    ensure(spec.name == "slice", || {
        format!(
            "the operand's layout `{}` is no slice: expected `#ttg.slice<{{dim = {axis}, parent = ...}}>`",
            source.text()
        )
    })?;
    ensure(find_layout_integer(spec, "dim") == Some(axis as i64), || {
        format!("the operand's layout `{}` is no slice along axis {axis}", source.text())
    })?;
    let Some(parent) = spec.parent.as_deref() else { return Ok(()) };
    ensure(parent == result.spec(), || {
        format!("the result's layout is `{}`: expected the parent of the operand's, `{}`", result.text(), source.text())
    })
}

/// Checks `tt.reduce`: a result's layout is the slice of the operand's along the reduced axis.
pub(super) fn reduce(check: &OpContext<'_>, _: &[String]) -> CheckResult {
    let Some(axis) = check.axis_attribute() else { return Ok(()) };
    for (operand, result) in check.operation.operands.iter().zip(&check.operation.results) {
        let (from, to) = (check.value_type(*operand), check.value_type(*result));
        let Some(from) = from.as_tensor() else { continue };
        let Some(to) = to.as_tensor() else { continue };
        ensure(from.shape.len() > 1, || "one axis is reduced to a scalar: expected a result without axes".to_owned())?;
        if !both(from.layout.as_ref(), to.layout.as_ref())? {
            continue;
        }
        let (Some(source), Some(result)) = (&from.layout, &to.layout) else { continue };
        let inferred = slice_of(source.spec(), axis);
        ensure(*result.spec() == inferred, || {
            format!(
                "the result's layout is `{}`: expected `#ttg.slice<{{dim = {axis}, parent = {}}}>`",
                result.text(),
                source.text()
            )
        })?;
    }
    Ok(())
}

/// Checks `tt.trans`: the result's layout is the operand's with its axes in the new order.
pub(super) fn trans(check: &OpContext<'_>, _: &[String]) -> CheckResult {
    let (Some((from, to)), Some(order)) = (check.tensors(), check.order_attribute()) else { return Ok(()) };
    if !both(from.layout.as_ref(), to.layout.as_ref())? {
        return Ok(());
    }
    let (Some(source), Some(result)) = (&from.layout, &to.layout) else { return Ok(()) };
    let source_bases = check.distributed(source.spec(), &from.shape);
    let (Some(own), Some(given)) = (source_bases, check.distributed(result.spec(), &to.shape)) else { return Ok(()) };
    let inferred = own.map(|basis| order.iter().map(|axis| basis[*axis]).collect());
    ensure(inferred == given, || {
        format!(
            "the result's layout is `{}`: expected that of the operand, `{}`, with axes {order:?}",
            result.text(),
            source.text()
        )
    })
}

/// Checks `tt.reshape` without `allow_reorder`: each element keeps its register, lane, warp and block.
pub(super) fn reshape(check: &OpContext<'_>, _: &[String]) -> CheckResult {
    let Some((from, to)) = check.tensors() else { return Ok(()) };
    if !both(from.layout.as_ref(), to.layout.as_ref())? || check.operation.attributes.get("allow_reorder").is_some() {
        return Ok(());
    }
    let (Some(source), Some(result)) = (&from.layout, &to.layout) else { return Ok(()) };
    let own = check.distributed(source.spec(), &from.shape);
    let (Some(own), Some(given)) = (own, check.distributed(result.spec(), &to.shape)) else { return Ok(()) };
    ensure(own.flat(&from.shape) == given.flat(&to.shape), || {
        format!(
            "the result's layout is `{}`, in which elements lie elsewhere than in `{}`: expected the same places, or `allow_reorder`",
            result.text(),
            source.text()
        )
    })
}

/// Checks `tt.broadcast`: the result's layout is the operand's along the axes that do not grow.
pub(super) fn broadcast(check: &OpContext<'_>, _: &[String]) -> CheckResult {
    let Some((from, to)) = check.tensors() else { return Ok(()) };
    let (Some(source), Some(result)) = (&from.layout, &to.layout) else { return Ok(()) };
    if source == result {
        return Ok(());
    }
    let own = check.distributed(source.spec(), &from.shape);
    let (Some(own), Some(given)) = (own, check.distributed(result.spec(), &to.shape)) else { return Ok(()) };
    let kept = |basis: &[u64]| -> Vec<u64> {
        basis.iter().zip(&from.shape).map(|(by, size)| if *size == 1 { 0 } else { *by }).collect()
    };
    ensure(own == given.map(kept).without_copies(), || {
        format!("the result's layout is `{}`: expected that of the operand, `{}`", result.text(), source.text())
    })
}

/// Returns the layout of one half of a tensor that is split along its last axis; `None` if no family given to the
/// verifier builds the tensor's layout.
///
/// The inner error means that the lanes do not hold pairs of elements along the axis in their registers.
fn half(check: &OpContext<'_>, spec: &FamilySpec, shape: &[u64], axis: usize) -> Option<Result<Bases, String>> {
    let mut all = check.distributed(spec, shape)?;
    let pair: Vec<u64> = (0..shape.len()).map(|at| u64::from(at == axis)).collect();
    let registers = all.0.get_mut("register")?;
    let Some(place) = registers.iter().position(|basis| *basis == pair) else {
        return Some(Err(format!("each lane must have pairs of elements along axis {axis} in its registers")));
    };
    registers.remove(place);
    Some(Ok(all))
}

/// Checks `tt.join` and `tt.split`: one register bit of the joined tensor selects a part, and the other bits are the
/// part's layout.
fn pair(check: &OpContext<'_>, joined: &TensorType, part: &TensorType) -> CheckResult {
    let (Some(all), Some(part_layout)) = (&joined.layout, &part.layout) else { return Ok(()) };
    let axis = joined.shape.len().saturating_sub(1);
    let Some(half) = half(check, all.spec(), &joined.shape, axis) else { return Ok(()) };
    let half = half.map_err(|message| format!("the layout `{}`: {message}", all.text()))?;
    let half = half.map(|basis| basis[..axis].to_vec()).without_copies();
    let Some(given) = check.distributed(part_layout.spec(), &part.shape) else { return Ok(()) };
    ensure(half == given, || {
        format!("the layout `{}` without its last axis is not `{}`", all.text(), part_layout.text())
    })
}

/// Checks `tt.cat`: the result takes twice as many registers of a lane as one operand.
pub(super) fn cat(check: &OpContext<'_>, _: &[String]) -> CheckResult {
    let Some((from, to)) = check.tensors() else { return Ok(()) };
    let (Some(source), Some(result)) = (&from.layout, &to.layout) else { return Ok(()) };
    let counts = (check.distributed(source.spec(), &from.shape), check.distributed(result.spec(), &to.shape));
    let (Some(own), Some(given)) = counts else { return Ok(()) };
    let (has, needs) = (own.0["register"].len() + 1, given.0["register"].len());
    ensure(has == needs, || {
        format!(
            "each lane has {} elements of each operand, and {} of the result in `{}`: expected twice as many",
            element_count_of_bases(has - 1),
            element_count_of_bases(needs),
            result.text()
        )
    })
}

/// Checks `tt.join`: the operands' layout is the result's without its last axis.
pub(super) fn join(check: &OpContext<'_>, _: &[String]) -> CheckResult {
    let Some((from, to)) = check.tensors() else { return Ok(()) };
    both(from.layout.as_ref(), to.layout.as_ref())?;
    pair(check, to, from)
}

/// Checks `tt.split`: the results' layout is the operand's without its last axis.
pub(super) fn split(check: &OpContext<'_>, _: &[String]) -> CheckResult {
    let Some((from, to)) = check.tensors() else { return Ok(()) };
    both(from.layout.as_ref(), to.layout.as_ref())?;
    pair(check, from, to)
}

/// Checks rule `unpacked(bytes numbers)`: the two numbers of a byte are in two registers of the byte's lane.
///
/// If the layout of the numbers is `linear`, these registers must be adjacent.
pub(super) fn unpacked(check: &OpContext<'_>, groups: &[String]) -> CheckResult {
    let [bytes, numbers] = groups else { return Ok(()) };
    let tensor = |group: &String| check.group_type(group).and_then(TileType::as_tensor);
    let (Some(from), Some(to), Some(axis)) = (tensor(bytes), tensor(numbers), check.axis_attribute()) else {
        return Ok(());
    };
    if !both(from.layout.as_ref(), to.layout.as_ref())? || axis >= to.shape.len() {
        return Ok(());
    }
    let (Some(source), Some(result)) = (&from.layout, &to.layout) else { return Ok(()) };
    let Some(half) = half(check, result.spec(), &to.shape, axis) else { return Ok(()) };
    let half = half.map_err(|message| format!("the result's layout `{}`: {message}", result.text()))?;
    if result.spec().name == "linear" {
        let all = check.distributed(result.spec(), &to.shape);
        let first = all.and_then(|all| all.0.get("register").and_then(|registers| registers.first().cloned()));
        let pair = (0..to.shape.len()).map(|at| u64::from(at == axis)).collect::<Vec<u64>>();
        ensure(first == Some(pair), || {
            format!("the result's layout `{}`: expected the numbers of a byte in adjacent registers", result.text())
        })?;
    }
    let Some(given) = check.distributed(source.spec(), &from.shape) else { return Ok(()) };
    let bytes =
        half.map(|basis| basis.iter().enumerate().map(|(at, by)| if at == axis { by / 2 } else { *by }).collect());
    ensure(bytes == given, || {
        format!(
            "the result's layout is `{}`, whose pairs are not in the lanes of their bytes, `{}`",
            result.text(),
            source.text()
        )
    })
}

/// Checks `ttg.convert_layout` with `force_warp_shuffle`: elements stay in their warp and block.
pub(super) fn within_warp(check: &OpContext<'_>, _: &[String]) -> CheckResult {
    if check.operation.attributes.get("force_warp_shuffle").is_none() {
        return Ok(());
    }
    let Some((from, to)) = check.tensors() else { return Ok(()) };
    let (Some(source), Some(result)) = (&from.layout, &to.layout) else { return Ok(()) };
    let own = check.distributed(source.spec(), &from.shape);
    let (Some(own), Some(given)) = (own, check.distributed(result.spec(), &to.shape)) else { return Ok(()) };
    ensure(own.0["warp"] == given.0["warp"] && own.0["block"] == given.0["block"], || {
        "`force_warp_shuffle`: elements go to other warps, and must stay in theirs".to_owned()
    })
}

/// Checks `ttg.memdesc_trans`: the result is the operand with its axes in the new order.
pub(super) fn memory_trans(check: &OpContext<'_>, _: &[String]) -> CheckResult {
    let (Some((from, to)), Some(order)) = (check.memories(), check.order_attribute()) else { return Ok(()) };
    ensure(from.mutable == to.mutable, || "the operand and the result must both be mutable, or neither".to_owned())?;
    ensure(from.space == to.space, || "the operand and the result must be in one memory".to_owned())?;
    let rank = from.shape.len();
    let full = |memory: &MemDescType| memory.allocation.clone().unwrap_or_else(|| memory.shape.clone());
    let (own, given) = (full(from), full(to));
    if own.len() == rank && given.len() == rank {
        let inferred: Vec<u64> = order.iter().map(|axis| own[*axis]).collect();
        ensure(inferred == given, || format!("the allocation of {own:?} becomes {given:?}: expected {inferred:?}"))?;
    }
    let (own, given) = (from.layout.spec(), to.layout.spec());
    let wrong = || {
        format!(
            "the result's layout is `{}`: expected that of `{}` with axes {order:?}",
            to.layout.text(),
            from.layout.text()
        )
    };
    let family = check.rules().find_layout_rules(&own.name).filter(|_| own.name == given.name);
    let by_attributes = family.and_then(|family| family.is_transposition(own, given, &order));
    if by_attributes == Some(true) || (by_attributes.is_none() && own.name == given.name) {
        return Ok(());
    }
    match (check.memory(own, &from.shape), check.memory(given, &to.shape)) {
        (Some(own), Some(given)) => {
            ensure(own.map(|basis| order.iter().map(|axis| basis[*axis]).collect()) == given, wrong)
        }
        _ => ensure(by_attributes.is_none(), wrong),
    }
}

/// Checks `ttg.memdesc_reshape`: each element keeps its address.
pub(super) fn memory_reshape(check: &OpContext<'_>, _: &[String]) -> CheckResult {
    let Some((from, to)) = check.memories() else { return Ok(()) };
    ensure(from.mutable == to.mutable, || "the operand and the result must both be mutable, or neither".to_owned())?;
    ensure(from.space == to.space, || "the operand and the result must be in one memory".to_owned())?;
    let rank = from.shape.len();
    let is_part =
        from.allocation.as_ref().is_some_and(|all| all.get(all.len().saturating_sub(rank)..) != Some(&from.shape[..]));
    ensure(!is_part, || "the operand is a part of its allocation: expected a whole one".to_owned())?;
    let forms = (check.memory(from.layout.spec(), &from.shape), check.memory(to.layout.spec(), &to.shape));
    let (Some(own), Some(given)) = forms else { return Ok(()) };
    ensure(own.flat(&from.shape) == given.flat(&to.shape), || {
        format!(
            "the result's layout is `{}`, in which elements lie elsewhere than in `{}`",
            to.layout.text(),
            from.layout.text()
        )
    })
}

/// Checks `gluon.set_auto_layout`: the operand's layout is one to be inferred, and the result's is not.
pub(super) fn set_auto(check: &OpContext<'_>, _: &[String]) -> CheckResult {
    let Some((from, to)) = check.tensors() else { return Ok(()) };
    let is_auto = |tensor: &TensorType| {
        tensor.layout.as_ref().is_some_and(|layout| layout.text().starts_with("#gluon.auto_encoding"))
    };
    ensure(is_auto(from), || "the operand's layout must be `#gluon.auto_encoding`".to_owned())?;
    ensure(!is_auto(to), || "the result's layout must not be `#gluon.auto_encoding`".to_owned())
}
