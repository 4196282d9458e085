//! Finds loop-closed values: values that are defined in a loop and used after it, and so become additional block
//! arguments.

use std::collections::{BTreeSet, HashMap};

use super::graph::ControlFlowGraph;
use crate::{Block, FunctionBody, Value};

/// For each block, by index, the loop-closed values that it takes.
///
/// These are defined in a loop that does not contain the block, and used in the block or in blocks that follow it.
pub(super) fn loop_closed_values(body: &FunctionBody, graph: &ControlFlowGraph) -> Vec<Vec<Value>> {
    let count = graph.blocks.len();
    if graph.loops.is_empty() {
        return vec![Vec::new(); count];
    }
    let mut defining_block: HashMap<Value, usize> = HashMap::new();
    for (index, block) in graph.blocks.iter().enumerate() {
        let results = body.ops(*block).iter().flat_map(|op| &body.op(*op).results);
        defining_block.extend(body.arguments(*block).iter().chain(results).map(|value| (*value, index)));
    }
    let block_values: Vec<BTreeSet<Value>> = graph.blocks.iter().map(|block| used(body, *block)).collect();
    let mut needed: Vec<BTreeSet<Value>> = vec![BTreeSet::new(); count];
    let mut changed = true;
    while changed {
        changed = false;
        for index in (0..count).rev() {
            let behind = graph.successors[index].iter().flat_map(|target| &needed[*target]);
            let all = block_values[index].iter().chain(behind).copied();
            let others = all.filter(|value| defining_block.get(value).is_some_and(|maker| *maker != index));
            let others: BTreeSet<Value> = others.collect();
            changed |= others != needed[index];
            needed[index] = others;
        }
    }
    let leaves = |maker: usize, index: usize| {
        graph.loops.values().any(|loop_blocks| loop_blocks.contains(&maker) && !loop_blocks.contains(&index))
    };
    let of = |(index, values): (usize, BTreeSet<Value>)| {
        values.into_iter().filter(|value| leaves(defining_block[value], index)).collect()
    };
    needed.into_iter().enumerate().map(of).collect()
}

/// All values that a block uses, in nested regions too.
fn used(body: &FunctionBody, block: Block) -> BTreeSet<Value> {
    let all = body.ops(block).iter().flat_map(|op| body.op_and_nested_ops(*op));
    all.flat_map(|op| body.op(op).operands.clone()).collect()
}
