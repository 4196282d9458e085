//! Order of operations: clones of a rematerialized operation take its position, conversions are placed before their
//! first use.
//!
//! So later loads are issued before a conversion waits for the value of an earlier load. The conversions for one
//! operation are adjacent, so that they can share barriers. A conversion never moves into a loop or a branch.

use std::collections::BTreeSet;

use super::Rewriter;
use tilewright_tile::{Block, FunctionBody, Op, Value};

impl Rewriter<'_, '_, '_> {
    pub(super) fn order_ops(&mut self) {
        for block in all_blocks(&self.body) {
            self.put_rematerialized(block);
        }
        let mut open: BTreeSet<Op> = self.conversions.values().copied().collect();
        for block in all_blocks(&self.body) {
            self.put_conversions(block, &mut open);
        }
    }

    fn put_rematerialized(&mut self, block: Block) {
        let ops = self.body.ops(block).iter();
        let ops = ops.flat_map(|op| self.instead.get(op).cloned().unwrap_or_else(|| vec![*op])).collect();
        self.body.set_ops(block, ops);
    }

    /// Places the conversions of values that a block defines, and removes these conversions from `open`. Each is placed
    /// before the block's first operation that uses its result, directly or in a nested region.
    fn put_conversions(&mut self, block: Block, open: &mut BTreeSet<Op>) {
        if open.is_empty() {
            return;
        }
        let mut defined: BTreeSet<Value> = self.body.arguments(block).iter().copied().collect();
        let mut ops = Vec::with_capacity(self.body.ops(block).len());
        for &op in self.body.ops(block) {
            for value in self.used(op) {
                if let Some(conversion) = self.conversions.get(&value)
                    && defined.contains(&self.body.op(*conversion).operands[0])
                    && open.remove(conversion)
                {
                    ops.push(*conversion);
                }
            }
            ops.push(op);
            defined.extend(&self.body.op(op).results);
        }
        self.body.set_ops(block, ops);
    }

    /// Returns the values that an operation uses, including those used in its regions.
    fn used(&self, op: Op) -> Vec<Value> {
        let mut used = self.body.op(op).operands.to_vec();
        for region in &self.body.op(op).regions {
            for inner in self.body.walk_region(*region) {
                used.extend(&self.body.op(inner).operands);
            }
        }
        used
    }
}

fn all_blocks(body: &FunctionBody) -> Vec<Block> {
    let mut blocks: Vec<Block> = body.blocks(body.root()).to_vec();
    for op in body.walk_region(body.root()) {
        for region in &body.op(op).regions {
            blocks.extend(body.blocks(*region));
        }
    }
    blocks
}
