//! Orders the blocks of a region so that definitions precede uses.

use std::collections::HashSet;

use super::{Block, FunctionBody, Region};

/// Returns the reachable blocks of a region in reverse post-order: each block follows its dominators.
pub(super) fn reachable(body: &FunctionBody, region: Region) -> Vec<Block> {
    let Some(entry) = body.blocks(region).first().copied() else { return Vec::new() };
    let mut known = HashSet::from([entry]);
    let mut order = Vec::new();
    let mut stack = vec![(entry, successors(body, entry))];
    while let Some((block, rest)) = stack.last_mut() {
        let block = *block;
        match rest.pop() {
            Some(target) if known.insert(target) => stack.push((target, successors(body, target))),
            Some(_) => {}
            None => {
                order.push(block);
                stack.pop();
            }
        }
    }
    order.reverse();
    order
}

/// Returns the reachable blocks of a region in reverse post-order, then the unreachable ones.
pub(super) fn reverse_post_order(body: &FunctionBody, region: Region) -> Vec<Block> {
    let mut order = reachable(body, region);
    let known: HashSet<Block> = order.iter().copied().collect();
    order.extend(body.blocks(region).iter().filter(|block| !known.contains(block)));
    order
}

/// Returns the successors of a block, in the order of its terminator's list.
pub(super) fn successors(body: &FunctionBody, block: Block) -> Vec<Block> {
    let last = body.ops(block).last();
    last.map_or_else(Vec::new, |last| body.op(*last).successors.iter().map(|successor| successor.block).collect())
}
