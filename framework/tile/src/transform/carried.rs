//! What blocks need of loops that have been left: it is given along, as if they took it.

use std::collections::{BTreeSet, HashMap};

use super::graph::Graph;
use crate::{Block, Body, Value};

/// Of each block, by its place, the values that it or one behind it uses, and that were made in a loop that it is not in.
pub(super) fn carried(body: &Body, graph: &Graph) -> Vec<Vec<Value>> {
    let count = graph.blocks.len();
    if graph.loops.is_empty() {
        return vec![Vec::new(); count];
    }
    let mut made: HashMap<Value, usize> = HashMap::new();
    for (place, block) in graph.blocks.iter().enumerate() {
        let results = body.ops(*block).iter().flat_map(|op| &body.op(*op).results);
        made.extend(body.arguments(*block).iter().chain(results).map(|value| (*value, place)));
    }
    let own: Vec<BTreeSet<Value>> = graph.blocks.iter().map(|block| used(body, *block)).collect();
    let mut needed: Vec<BTreeSet<Value>> = vec![BTreeSet::new(); count];
    let mut changed = true;
    while changed {
        changed = false;
        for place in (0..count).rev() {
            let behind = graph.successors[place].iter().flat_map(|target| &needed[*target]);
            let all = own[place].iter().chain(behind).copied();
            let others = all.filter(|value| made.get(value).is_some_and(|maker| *maker != place));
            let others: BTreeSet<Value> = others.collect();
            changed |= others != needed[place];
            needed[place] = others;
        }
    }
    let leaves =
        |maker: usize, place: usize| graph.loops.values().any(|own| own.contains(&maker) && !own.contains(&place));
    let of = |(place, values): (usize, BTreeSet<Value>)| {
        values.into_iter().filter(|value| leaves(made[value], place)).collect()
    };
    needed.into_iter().enumerate().map(of).collect()
}

/// All values that a block uses, in its regions too.
fn used(body: &Body, block: Block) -> BTreeSet<Value> {
    let all = body.ops(block).iter().flat_map(|op| body.nested(*op));
    all.flat_map(|op| body.op(op).operands.clone()).collect()
}
