//! Defines the rules of arrivals at mbarriers of a cluster's blocks.

use tilewright_tile::rules::{Check, Checked, Rule, bases, ensure};

/// The rules of `ttng`'s arrivals.
pub(super) const RULES: [Rule; 2] = [Rule::new("arrive", arrive), Rule::new("commit", commit)];

/// `arrive` (`ttng.arrive_barrier`, `ttng.barrier_expect`): the cluster has the named blocks.
fn arrive(check: &Check<'_>, _: &[String]) -> Checked {
    let blocks = i64::try_from(check.cluster_blocks()).unwrap_or(i64::MAX);
    if let Some(block) = check.integer("fromCTA") {
        ensure((0..blocks).contains(&block), || {
            format!("`fromCTA = {block}`: expected a block of the cluster, from 0 to {}", blocks - 1)
        })?;
        let shape = check.memory_type("alloc").map(|memory| memory.shape.clone()).unwrap_or_default();
        ensure(shape == [check.cluster_blocks()], || {
            format!("`fromCTA` at an mbarrier of {shape:?}: expected one element for each of {blocks} blocks")
        })?;
    }
    let Some(mask) = check.integer("multicastCTA").filter(|mask| *mask != 0) else { return Ok(()) };
    ensure(blocks > 1, || "`multicastCTA` needs a cluster: expected `ttg.num-ctas` above 1".to_owned())?;
    ensure((0..blocks).contains(&mask), || format!("`multicastCTA = {mask}`: expected a number up to {}", blocks - 1))
}

/// `commit` (`ttng.tc_gen5_commit`): it has at most four descriptors, and an mbarrier in each block of the cluster.
fn commit(check: &Check<'_>, _: &[String]) -> Checked {
    let count = check.group_types("descs").len();
    ensure(count <= 4, || format!("{count} descriptors: expected four at most"))?;
    let Some(memory) = check.memory_type("barrier") else { return Ok(()) };
    let blocks = bases(memory.layout.spec(), "cga_layout").unwrap_or_default();
    ensure(blocks.iter().all(|basis| basis.iter().any(|by| *by != 0)), || {
        format!("the mbarrier's `CGALayout` is {blocks:?}: expected one element for each block")
    })
}
