//! Defines the rules of mbarriers in clusters: arrivals at them, and completions of copies and dots.

use tilewright_tile::rules::{CheckResult, OpContext, VerifyRule, ensure, find_layout_bases};
use tilewright_tile::{Attribute, MemDescType};

/// The rules for `ttng`'s mbarriers, by the names that dialect files use.
pub(super) const RULES: [VerifyRule; 4] = [
    VerifyRule::new("arrive", arrive),
    VerifyRule::new("commit", commit),
    VerifyRule::new("completion", completion),
    VerifyRule::new("copy_completion", copy_completion),
];

/// Returns the `CGALayout` of the mbarriers in `memory`: for each bit of the block index, the step to that block's
/// mbarrier, in mbarriers. Empty if the layout of the memory has none.
fn blocks_of(memory: &MemDescType) -> Vec<Vec<i64>> {
    find_layout_bases(memory.layout.spec(), "cga_layout").unwrap_or_default()
}

/// Returns the `CGALayout` of mbarriers (see [`blocks_of`]) that is expected if every `shared` consecutive blocks share
/// one mbarrier; `shared` is a power of two.
fn one_each(check: &OpContext<'_>, shared: u64) -> Vec<Vec<i64>> {
    let count = |number: u64| number.max(1).ilog2();
    let zeros = (0..count(shared)).map(|_| vec![0]);
    zeros.chain((0..count(check.cluster_blocks() / shared)).map(|bit| vec![1 << bit])).collect()
}

/// Checks, by the `CGALayout` of the mbarriers' memory, that each block of the cluster has its own mbarrier.
fn check_one_each(check: &OpContext<'_>, memory: &MemDescType) -> CheckResult {
    let (own, expected) = (blocks_of(memory), one_each(check, 1));
    ensure(own == expected, || {
        format!("the mbarrier's `CGALayout` is {own:?}: expected {expected:?}, one in each block")
    })
}

/// Rule `completion(barriers)`: checks that each block has its own mbarrier, where the block's asynchronous operations
/// arrive when they complete.
fn completion(check: &OpContext<'_>, groups: &[String]) -> CheckResult {
    let memories = check.types_of_groups(groups).into_iter().filter_map(|ty| ty.as_memory());
    memories.into_iter().try_for_each(|memory| check_one_each(check, memory))
}

/// Rule `copy_completion(barrier)`: checks that each block has its own mbarrier for the completion of a copy. In a
/// module with `ttng.two-ctas = true`, two adjacent blocks may share one; a module without this attribute is not
/// checked.
fn copy_completion(check: &OpContext<'_>, groups: &[String]) -> CheckResult {
    let Some(Attribute::Bool(in_pairs)) = check.module_attribute("ttng.two-ctas") else { return Ok(()) };
    let Some(memory) = groups.first().and_then(|group| check.memory_type(group)) else { return Ok(()) };
    if *in_pairs && blocks_of(memory) == one_each(check, 2) {
        return Ok(());
    }
    check_one_each(check, memory)
}

/// Rule `arrive` of `ttng.arrive_barrier` and `ttng.barrier_expect`: checks that the attributes `fromCTA` and
/// `multicastCTA` refer to blocks of the cluster. With either attribute, each block must have its own mbarrier.
fn arrive(check: &OpContext<'_>, _: &[String]) -> CheckResult {
    let blocks = i64::try_from(check.cluster_blocks()).unwrap_or(i64::MAX);
    if let Some(block) = check.integer_attribute("fromCTA") {
        ensure((0..blocks).contains(&block), || {
            format!("`fromCTA = {block}`: expected a block of the cluster, from 0 to {}", blocks - 1)
        })?;
        if let Some(memory) = check.memory_type("alloc") {
            ensure(memory.shape == [check.cluster_blocks()], || {
                format!(
                    "`fromCTA` at an mbarrier of {:?}: expected one element for each of {blocks} blocks",
                    memory.shape
                )
            })?;
            check_one_each(check, memory)?;
        }
    }
    let Some(mask) = check.integer_attribute("multicastCTA").filter(|mask| *mask != 0) else { return Ok(()) };
    ensure(blocks > 1, || "`multicastCTA` needs a cluster: expected `ttg.num-ctas` above 1".to_owned())?;
    ensure((0..blocks).contains(&mask), || format!("`multicastCTA = {mask}`: expected a number up to {}", blocks - 1))?;
    // As Triton's verifier, which accepts `fromCTA` of the last block.
    ensure(check.integer_attribute("fromCTA").is_none_or(|block| block == blocks - 1), || {
        "`fromCTA` and `multicastCTA`: expected one of them".to_owned()
    })?;
    check.memory_type("alloc").map_or(Ok(()), |memory| check_one_each(check, memory))
}

/// Rule `commit` of `ttng.tc_gen5_commit`: checks that it has at most four descriptors, and that each block of the
/// cluster has its own mbarrier.
fn commit(check: &OpContext<'_>, _: &[String]) -> CheckResult {
    let count = check.group_types("descs").len();
    ensure(count <= 4, || format!("{count} descriptors: expected four at most"))?;
    check.memory_type("barrier").map_or(Ok(()), |memory| check_one_each(check, memory))
}
