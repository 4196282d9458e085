//! Defines the rules of buffer accesses (`amdg.buffer_load` and similar), whose addresses are a base pointer plus an
//! offset for each element.

use tilewright_tile::TileType;
use tilewright_tile::rules::{CheckResult, OpContext, VerifyRule, ensure};

/// The rules for `amdg`'s buffer accesses, by the names that dialect files use.
pub(super) const RULES: [VerifyRule; 3] = [
    VerifyRule::new("buffer", buffer),
    VerifyRule::new("buffer_other", buffer_other),
    VerifyRule::new("buffer_target", buffer_target),
];

/// Rule `buffer(values)` of buffer accesses: checks that the base pointer points to elements like those of `values` (a
/// group of operands or results), and that offsets are `i32`. Unless `values` are in shared memory, the offsets must
/// have their shape and layout.
fn buffer(check: &OpContext<'_>, groups: &[String]) -> CheckResult {
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

/// Rule `buffer_other` of `amdg.buffer_load_to_local`: checks the type of `other`, the tensor with values for
/// masked-off elements. It must have the shape and layout of the offsets, and elements of the pointee type.
fn buffer_other(check: &OpContext<'_>, _: &[String]) -> CheckResult {
    let (Some(other), Some(offsets)) = (check.group_type("other"), check.group_type("offsets")) else { return Ok(()) };
    let Some(TileType::Pointer(pointer)) = check.group_type("ptr") else { return Ok(()) };
    let expected = offsets.with_element(pointer.pointee.clone());
    ensure(*other == expected, || format!("`other` is a `{other}`: expected `{expected}`"))
}

/// Rule `buffer_target` of `amdg.buffer_load_to_local`: checks that the base is a single pointer, and that the module's
/// target has copies from global memory to LDS.
fn buffer_target(check: &OpContext<'_>, _: &[String]) -> CheckResult {
    let pointer = check.group_type("ptr");
    ensure(matches!(pointer, Some(TileType::Pointer(_))), || "the base is a tensor: expected one pointer".to_owned())?;
    let Some(target) = check.target_attribute().and_then(|target| target.strip_prefix("hip:")) else {
        return Ok(());
    };
    ensure(["gfx942", "gfx950", "gfx1250"].contains(&target), || {
        format!("`{target}` does not copy to shared memory: expected gfx942, gfx950 or gfx1250")
    })
}
