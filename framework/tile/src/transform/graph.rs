//! Builds the control-flow graph of a region, with dominators and natural loops.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use tilewright_target::immediate_dominators;

use crate::order::{reachable, successors};
use crate::{Block, FunctionBody, Op, Region};

/// A control-flow graph whose blocks are in reverse post-order: only back edges to loop headers do not go forward.
///
/// All numbers of blocks are indices into `blocks`; block 0 is the entry.
pub(super) struct ControlFlowGraph {
    /// The reachable blocks, in reverse post-order.
    pub blocks: Vec<Block>,
    /// For each block, its successors.
    pub successors: Vec<Vec<usize>>,
    /// The immediate dominator of each block; the element of block 0 has no meaning.
    pub dominators: Vec<usize>,
    /// For each block, the number of forward edges into it.
    pub forward_predecessors: Vec<usize>,
    /// For each loop header, the blocks of its loop.
    pub loops: BTreeMap<usize, BTreeSet<usize>>,
}

impl ControlFlowGraph {
    /// Builds the graph; `Err` with the terminator of a back edge if the graph is irreducible.
    pub fn build(body: &FunctionBody, region: Region) -> Result<Self, Op> {
        let blocks = reachable(body, region);
        let index_of_block: HashMap<_, _> = blocks.iter().enumerate().map(|(index, block)| (*block, index)).collect();
        let targets =
            |block: &Block| successors(body, *block).into_iter().map(|target| index_of_block[&target]).collect();
        let successors: Vec<Vec<usize>> = blocks.iter().map(targets).collect();
        let mut entered = vec![0; blocks.len()];
        for (index, targets) in successors.iter().enumerate() {
            targets.iter().filter(|target| **target > index).for_each(|target| entered[*target] += 1);
        }
        let dominators = if blocks.is_empty() { Vec::new() } else { immediate_dominators(0, &successors) };
        let mut graph = Self { blocks, successors, dominators, forward_predecessors: entered, loops: BTreeMap::new() };
        match graph.find_loops() {
            // A block with successors has a terminator.
            Err(index) => body.ops(graph.blocks[index]).last().map_or(Ok(graph), |terminator| Err(*terminator)),
            Ok(()) => Ok(graph),
        }
    }

    /// Finds the natural loops; `Err` with the source of a back edge whose target does not dominate it.
    fn find_loops(&mut self) -> Result<(), usize> {
        let mut before: Vec<Vec<usize>> = vec![Vec::new(); self.blocks.len()];
        for (index, targets) in self.successors.iter().enumerate() {
            targets.iter().for_each(|target| before[*target].push(index));
        }
        for index in 0..self.blocks.len() {
            for &head in self.successors[index].iter().filter(|target| **target <= index) {
                if !self.dominates(head, index) {
                    return Err(index);
                }
                let loop_blocks = self.loops.entry(head).or_insert_with(|| BTreeSet::from([head]));
                let mut open = vec![index];
                while let Some(index) = open.pop() {
                    if loop_blocks.insert(index) {
                        open.extend(&before[index]);
                    }
                }
            }
        }
        Ok(())
    }

    fn dominates(&self, of: usize, mut index: usize) -> bool {
        while index > of {
            index = self.dominators[index];
        }
        index == of
    }

    /// Returns the header of the outermost loop that control must leave before it reaches a block; `None` if there is
    /// none.
    ///
    /// Such a loop contains the block's immediate dominator, but not the block.
    pub fn outermost_exited_loop(&self, index: usize) -> Option<usize> {
        let from = self.dominators[index];
        let is_left = |loop_blocks: &BTreeSet<usize>| loop_blocks.contains(&from) && !loop_blocks.contains(&index);
        self.loops.iter().find(|(_, loop_blocks)| is_left(loop_blocks)).map(|(head, _)| *head)
    }

    /// Iterates over the merge blocks (blocks with several forward predecessors) that this block immediately dominates.
    ///
    /// Blocks that control reaches by leaving a loop are not among them.
    pub fn dominated_merge_blocks(&self, index: usize) -> impl Iterator<Item = usize> {
        let joins = move |join: &usize| self.forward_predecessors[*join] > 1 && self.dominators[*join] == index;
        (index + 1..self.blocks.len()).filter(joins).filter(|join| self.outermost_exited_loop(*join).is_none())
    }

    /// The blocks for which the loop with this header is the outermost one that control leaves before it reaches them.
    pub fn blocks_after_loop(&self, head: usize) -> impl Iterator<Item = usize> {
        (head + 1..self.blocks.len()).filter(move |index| self.outermost_exited_loop(*index) == Some(head))
    }
}
