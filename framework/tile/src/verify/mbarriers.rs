//! Defines the rules of mbarriers and clusters.

use super::layout_parameters::{find_layout_bases, find_layout_integer};
use super::{CheckResult, OpContext, ensure};

/// Checks that a cluster of the module has several blocks.
pub(super) fn cluster(check: &OpContext<'_>, _: &[String]) -> CheckResult {
    ensure(check.context.blocks > 1, || {
        "the module has one block to a cluster: expected `ttg.num-ctas` above 1".to_owned()
    })
}

/// Checks rule `barrier(group)`: the memory holds mbarriers.
///
/// It has one axis of i64, with at most one element for each block of the cluster. It is neither swizzled nor a part of
/// an allocation.
pub(super) fn barrier(check: &OpContext<'_>, groups: &[String]) -> CheckResult {
    for ty in groups.iter().flat_map(|group| check.group_types(group)) {
        let Some(memory) = ty.as_memory() else { continue };
        let fits = memory.element == crate::TileType::integer(64)
            && memory.shape.len() == 1
            && memory.shape[0] <= check.context.blocks;
        ensure(fits, || {
            format!(
                "`{ty}` is no mbarrier: expected one axis of i64, at most {} for the blocks of the cluster",
                check.context.blocks
            )
        })?;
        let spec = memory.layout.spec();
        let blocks = find_layout_bases(spec, "cga_layout").unwrap_or_default();
        let moved = blocks.iter().flatten().filter(|by| **by != 0);
        ensure(moved.enumerate().all(|(number, by)| 1i64.checked_shl(number as u32) == Some(*by)), || {
            format!("`{ty}` has `CGALayout = {blocks:?}`: expected 1, 2, 4, ... in this order, and zeros")
        })?;
        let is_plain = spec.name == "swizzled_shared"
            && ["vec", "per_phase", "max_phase"].iter().all(|name| find_layout_integer(spec, name) == Some(1));
        ensure(is_plain && memory.allocated_axes() == memory.shape, || {
            format!(
                "`{ty}` is swizzled, or a part of an allocation: expected a whole one with `vec`, `perPhase` and `maxPhase` of 1"
            )
        })?;
    }
    Ok(())
}
