//! An order of a region's blocks in which values are defined before they are used.

use std::collections::HashSet;

use super::{Block, Body, Region};

/// The blocks that can be reached, each before those that it jumps to, but for jumps back; so each follows those that
/// every way to it passes.
pub(super) fn reachable(body: &Body, region: Region) -> Vec<Block> {
    let Some(entry) = body.blocks(region).first().copied() else { return Vec::new() };
    let mut known = HashSet::from([entry]);
    let mut order = Vec::new();
    let mut stack = vec![(entry, targets(body, entry))];
    while let Some((block, rest)) = stack.last_mut() {
        let block = *block;
        match rest.pop() {
            Some(target) if known.insert(target) => stack.push((target, targets(body, target))),
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

/// The same, and behind them the blocks that nothing jumps to.
pub(super) fn all(body: &Body, region: Region) -> Vec<Block> {
    let mut order = reachable(body, region);
    let known: HashSet<Block> = order.iter().copied().collect();
    order.extend(body.blocks(region).iter().filter(|block| !known.contains(block)));
    order
}

/// The blocks that a block's end jumps to.
pub(super) fn targets(body: &Body, block: Block) -> Vec<Block> {
    let last = body.ops(block).last();
    last.map_or_else(Vec::new, |last| body.op(*last).successors.iter().map(|successor| successor.block).collect())
}
