//! Rules of mbarriers and clusters.

use super::layouts::number;
use super::{Check, Checked, ensure};

/// The operation needs a cluster of several blocks.
pub(super) fn cluster(check: &Check<'_>, _: &[String]) -> Checked {
    ensure(check.context.blocks > 1, || {
        "the module has one block to a cluster: expected `ttg.num-ctas` above 1".to_owned()
    })
}

/// `barrier(group)`: the memory is one of mbarriers: a list of i64, at most one for each block of the cluster.
pub(super) fn barrier(check: &Check<'_>, groups: &[String]) -> Checked {
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
        let is_plain = spec.name == "swizzled_shared"
            && ["vec", "per_phase", "max_phase"].iter().all(|name| number(spec, name) == Some(1));
        ensure(is_plain && memory.allocated_axes() == memory.shape, || {
            format!(
                "`{ty}` is swizzled, or a part of an allocation: expected a whole one with `vec`, `perPhase` and `maxPhase` of 1"
            )
        })?;
    }
    Ok(())
}

/// `ttng.arrive_barrier` and `ttng.barrier_expect`: the blocks that they name exist.
pub(super) fn arrive(check: &Check<'_>, _: &[String]) -> Checked {
    let blocks = i64::try_from(check.context.blocks).unwrap_or(i64::MAX);
    if let Some(block) = check.integer("fromCTA") {
        ensure((0..blocks).contains(&block), || {
            format!("`fromCTA = {block}`: expected a block of the cluster, from 0 to {}", blocks - 1)
        })?;
        let shape = check.memory_type("alloc").map(|memory| memory.shape.clone()).unwrap_or_default();
        ensure(shape == [check.context.blocks], || {
            format!("`fromCTA` at an mbarrier of {shape:?}: expected one element for each of {blocks} blocks")
        })?;
    }
    let Some(mask) = check.integer("multicastCTA").filter(|mask| *mask != 0) else { return Ok(()) };
    ensure(blocks > 1, || "`multicastCTA` needs a cluster: expected `ttg.num-ctas` above 1".to_owned())?;
    ensure((0..blocks).contains(&mask), || format!("`multicastCTA = {mask}`: expected a number up to {}", blocks - 1))
}

/// `ttng.tc_gen5_commit`: at most four descriptors, and an mbarrier in each block of a cluster.
pub(super) fn commit(check: &Check<'_>, _: &[String]) -> Checked {
    let count = check.group_types("descs").len();
    ensure(count <= 4, || format!("{count} descriptors: expected four at most"))?;
    let Some(memory) = check.memory_type("barrier") else { return Ok(()) };
    let blocks = super::layouts::bases(memory.layout.spec(), "cga_layout").unwrap_or_default();
    ensure(blocks.iter().all(|basis| basis.iter().any(|by| *by != 0)), || {
        format!("the mbarrier's `CGALayout` is {blocks:?}: expected one element for each block")
    })
}
