//! Checks that definitions dominate uses, and that blocks end in terminators.

use std::collections::HashMap;

use tilewright_target::immediate_dominators;

use crate::order::{reachable, successors};
use crate::{Block, FunctionBody, Op, Region, ValueOrigin};

/// A violation: the operation that violates the rule (`None` for the function as a whole), and the message.
type Broken = (Option<Op>, String);

pub(super) fn check(body: &FunctionBody) -> Result<(), Broken> {
    let mut walk = Walk { body, open: vec![false; body.value_count()] };
    walk.region(body.root())
}

struct Walk<'a> {
    body: &'a FunctionBody,
    /// For each value, by index, whether its definition dominates the current position.
    open: Vec<bool>,
}

impl Walk<'_> {
    fn region(&mut self, region: Region) -> Result<(), Broken> {
        let blocks = self.body.blocks(region);
        let Some(entry) = blocks.first().copied() else { return Ok(()) };
        blocks.iter().try_for_each(|block| self.ends(*block, region))?;
        if blocks.len() == 1 {
            self.block(entry)?;
            self.close(entry);
            return Ok(());
        }
        // The values of a block are visible in the blocks that it dominates, so walk those before closing the block.
        let children = dominated(self.body, region);
        self.subtree(entry, &children)
    }

    fn subtree(&mut self, entry: Block, children: &HashMap<Block, Vec<Block>>) -> Result<(), Broken> {
        // The stack has each block twice: before the blocks that it dominates, and after them (`true`).
        let mut stack = vec![(entry, false)];
        while let Some((block, done)) = stack.pop() {
            if done {
                self.close(block);
                continue;
            }
            self.block(block)?;
            stack.push((block, true));
            stack.extend(children.get(&block).into_iter().flatten().map(|child| (*child, false)));
        }
        Ok(())
    }

    fn block(&mut self, block: Block) -> Result<(), Broken> {
        for argument in self.body.arguments(block) {
            self.open[argument.index()] = true;
        }
        for op in self.body.ops(block) {
            let operation = self.body.op(*op);
            if let Some(value) = operation.operands.iter().find(|value| !self.open[value.index()]) {
                let name = self.body.value_name(*value).map(|name| format!(" `%{name}`")).unwrap_or_default();
                let defined = match self.body.value_origin(*value) {
                    ValueOrigin::Result(by, _) => format!("by `{}`", self.body.op(by).name()),
                    ValueOrigin::Argument(..) => "as the argument of a block".to_owned(),
                };
                return Err((
                    Some(*op),
                    format!("it uses a value{name} that is defined {defined}, whose definition does not dominate it"),
                ));
            }
            operation.regions.iter().try_for_each(|region| self.region(*region))?;
            for result in &operation.results {
                self.open[result.index()] = true;
            }
        }
        Ok(())
    }

    fn close(&mut self, block: Block) {
        let results = self.body.ops(block).iter().flat_map(|op| &self.body.op(*op).results);
        for value in self.body.arguments(block).iter().chain(results) {
            self.open[value.index()] = false;
        }
    }

    /// Checks that a terminator ends the block and no operation before is one, and that branches stay in the region.
    fn ends(&self, block: Block, region: Region) -> Result<(), Broken> {
        let ops = self.body.ops(block);
        let ends = |op: &Op| self.body.op(*op).definition.traits.terminator;
        match ops.split_last() {
            // A block may lack its terminator only if it is the single block of a region other than the function's.
            Some((last, _)) if !ends(last) && self.body.blocks(region).len() > 1 => {
                return Err((Some(*last), "a block ends with it, and it is not an end of a block".to_owned()));
            }
            None if self.body.blocks(region).len() > 1 || region == self.body.root() => {
                return Err((None, "a block is empty: expected a terminator, such as `tt.return`".to_owned()));
            }
            Some((last, _)) if region == self.body.root() && !ends(last) => {
                return Err((Some(*last), "the function ends with it, and not with `tt.return`".to_owned()));
            }
            _ => {}
        }
        if let Some(early) = ops.iter().rev().skip(1).find(|op| ends(op)) {
            return Err((Some(*early), "it ends a block, and others follow it there".to_owned()));
        }
        for op in ops {
            let elsewhere = |block: &Block| !self.body.blocks(region).contains(block);
            if self.body.op(*op).successors.iter().any(|to| elsewhere(&to.block)) {
                return Err((Some(*op), "it branches out of its region".to_owned()));
            }
        }
        Ok(())
    }
}

/// For each block, the blocks that it immediately dominates; the entry also has the unreachable blocks.
fn dominated(body: &FunctionBody, region: Region) -> HashMap<Block, Vec<Block>> {
    let order = reachable(body, region);
    let Some(&entry) = order.first() else { return HashMap::new() };
    let index: HashMap<Block, usize> = order.iter().enumerate().map(|(index, block)| (*block, index)).collect();
    let after = |block: &Block| successors(body, *block).iter().filter_map(|to| index.get(to).copied()).collect();
    let successors: Vec<Vec<usize>> = order.iter().map(after).collect();
    let mut children: HashMap<Block, Vec<Block>> = HashMap::new();
    for (block, parent) in immediate_dominators(0, &successors).into_iter().enumerate().skip(1) {
        children.entry(order[parent]).or_default().push(order[block]);
    }
    let unreached = body.blocks(region).iter().filter(|block| !index.contains_key(block));
    children.entry(entry).or_default().extend(unreached);
    children
}
