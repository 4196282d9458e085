//! The blocks of a region and the jumps between them.

use std::collections::HashMap;

use crate::tile::{Block, Body, Op, Region};

/// Blocks by their places in an order in which every jump goes forward; the first is entered.
pub(super) struct Graph {
    /// The blocks that can be reached.
    pub blocks: Vec<Block>,
    /// Of each block, the places that it jumps to.
    pub successors: Vec<Vec<usize>>,
    /// Of each block but the first, the place of the nearest one that every way to it passes.
    pub dominators: Vec<usize>,
    /// Of each block, how many jumps go to it.
    pub entered: Vec<usize>,
}

impl Graph {
    /// `Err` with a jump that closes a cycle.
    pub fn of(body: &Body, region: Region) -> Result<Self, Op> {
        let blocks = forward(body, region)?;
        let places: HashMap<_, _> = blocks.iter().enumerate().map(|(place, block)| (*block, place)).collect();
        let targets = |block: &Block| targets(body, *block).into_iter().map(|target| places[&target]).collect();
        let successors: Vec<Vec<usize>> = blocks.iter().map(targets).collect();
        let mut entered = vec![0; blocks.len()];
        let mut dominators: Vec<Option<usize>> = vec![None; blocks.len()];
        for (place, targets) in successors.iter().enumerate() {
            for &target in targets {
                entered[target] += 1;
                let dominator = dominators[target].map_or(place, |known| nearest(&dominators, known, place));
                dominators[target] = Some(dominator);
            }
        }
        let dominators = dominators.into_iter().map(|dominator| dominator.unwrap_or(0)).collect();
        Ok(Self { blocks, successors, dominators, entered })
    }

    /// The blocks that are reached by several jumps, all by way of this one, and by way of none nearer.
    pub fn joins(&self, place: usize) -> impl Iterator<Item = usize> {
        (place + 1..self.blocks.len()).filter(move |&join| self.entered[join] > 1 && self.dominators[join] == place)
    }
}

/// The nearest block that dominates both; all before the later of the two are known.
fn nearest(dominators: &[Option<usize>], mut a: usize, mut b: usize) -> usize {
    while a != b {
        let later = if a > b { &mut a } else { &mut b };
        *later = dominators[*later].unwrap_or(0);
    }
    a
}

fn targets(body: &Body, block: Block) -> Vec<Block> {
    let last = body.ops(block).last();
    last.map_or_else(Vec::new, |last| body.op(*last).successors.iter().map(|successor| successor.block).collect())
}

/// The blocks that can be reached, each before those that it jumps to.
fn forward(body: &Body, region: Region) -> Result<Vec<Block>, Op> {
    let Some(entry) = body.blocks(region).first() else { return Ok(Vec::new()) };
    // Entered and not left: true; left: false.
    let mut open = HashMap::from([(*entry, true)]);
    let mut order = Vec::new();
    let mut stack = vec![(*entry, targets(body, *entry))];
    while let Some((block, rest)) = stack.last_mut() {
        let block = *block;
        match rest.pop() {
            Some(target) => match open.get(&target) {
                // A block that jumps has a jump.
                Some(true) => match body.ops(block).last() {
                    Some(jump) => return Err(*jump),
                    None => continue,
                },
                Some(false) => {}
                None => {
                    open.insert(target, true);
                    stack.push((target, targets(body, target)));
                }
            },
            None => {
                open.insert(block, false);
                order.push(block);
                stack.pop();
            }
        }
    }
    order.reverse();
    Ok(order)
}
