//! The blocks of a region and the jumps between them.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use tilewright_target::dominators;

use crate::order::{reachable, targets};
use crate::{Block, Body, Op, Region};

/// Blocks by their places in an order in which every jump goes forward but those back to the head of a loop; the first is
/// entered.
pub(super) struct Graph {
    /// The blocks that can be reached.
    pub blocks: Vec<Block>,
    /// Of each block, the places that it jumps to.
    pub successors: Vec<Vec<usize>>,
    /// Of each block but the first, the place of the nearest one that every way to it passes.
    pub dominators: Vec<usize>,
    /// Of each block, how many jumps go forward to it.
    pub entered: Vec<usize>,
    /// By the place of its head, the blocks of each loop.
    pub loops: BTreeMap<usize, BTreeSet<usize>>,
}

impl Graph {
    /// `Err` with a jump back to a block that is entered past it, so that the blocks between make no loop.
    pub fn of(body: &Body, region: Region) -> Result<Self, Op> {
        let blocks = reachable(body, region);
        let places: HashMap<_, _> = blocks.iter().enumerate().map(|(place, block)| (*block, place)).collect();
        let targets = |block: &Block| targets(body, *block).into_iter().map(|target| places[&target]).collect();
        let successors: Vec<Vec<usize>> = blocks.iter().map(targets).collect();
        let mut entered = vec![0; blocks.len()];
        for (place, targets) in successors.iter().enumerate() {
            targets.iter().filter(|target| **target > place).for_each(|target| entered[*target] += 1);
        }
        let dominators = if blocks.is_empty() { Vec::new() } else { dominators(0, &successors) };
        let mut graph = Self { blocks, successors, dominators, entered, loops: BTreeMap::new() };
        match graph.find_loops() {
            // A block that jumps has a jump.
            Err(place) => body.ops(graph.blocks[place]).last().map_or(Ok(graph), |jump| Err(*jump)),
            Ok(()) => Ok(graph),
        }
    }

    /// `Err` with the place of a block that jumps back to one that does not dominate it.
    fn find_loops(&mut self) -> Result<(), usize> {
        let mut before: Vec<Vec<usize>> = vec![Vec::new(); self.blocks.len()];
        for (place, targets) in self.successors.iter().enumerate() {
            targets.iter().for_each(|target| before[*target].push(place));
        }
        for place in 0..self.blocks.len() {
            for &head in self.successors[place].iter().filter(|target| **target <= place) {
                if !self.dominates(head, place) {
                    return Err(place);
                }
                let own = self.loops.entry(head).or_insert_with(|| BTreeSet::from([head]));
                let mut open = vec![place];
                while let Some(place) = open.pop() {
                    if own.insert(place) {
                        open.extend(&before[place]);
                    }
                }
            }
        }
        Ok(())
    }

    fn dominates(&self, of: usize, mut place: usize) -> bool {
        while place > of {
            place = self.dominators[place];
        }
        place == of
    }

    /// The head of the outermost loop that must be left to come to a block from the nearest one that every way to it passes.
    pub fn left(&self, place: usize) -> Option<usize> {
        let from = self.dominators[place];
        let is_left = |own: &BTreeSet<usize>| own.contains(&from) && !own.contains(&place);
        self.loops.iter().find(|(_, own)| is_left(own)).map(|(head, _)| *head)
    }

    /// The blocks that are reached by several jumps, all by way of this one, and by way of none nearer.
    pub fn joins(&self, place: usize) -> impl Iterator<Item = usize> {
        let joins = move |join: &usize| self.entered[*join] > 1 && self.dominators[*join] == place;
        (place + 1..self.blocks.len()).filter(joins).filter(|join| self.left(*join).is_none())
    }

    /// The blocks that are reached when the loop of a head, and none around it, has been left.
    pub fn behind(&self, head: usize) -> impl Iterator<Item = usize> {
        (head + 1..self.blocks.len()).filter(move |place| self.left(*place) == Some(head))
    }
}
