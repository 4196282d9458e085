//! Checks of blocks: terminators, structured control flow, and dominance of definitions over uses.

use std::collections::{HashMap, HashSet};

use rspirv::dr::{Block, Function, Instruction, Operand};
use rspirv::spirv::{Op, Word};

use super::globals::Globals;
use super::operations::Values;
use super::{Fault, id, require, result};

/// The position of an instruction in a function: index of the block, and index of the instruction in the block.
type InstructionPosition = (usize, usize);

/// The blocks of a function as a graph; blocks are numbered in the function's order.
struct Graph<'a> {
    function: &'a Function,
    /// Number of each block, by label.
    numbers: HashMap<Word, usize>,
    successors: Vec<Vec<usize>>,
    predecessors: Vec<Vec<usize>>,
    /// Immediate dominator of each block; the entry block's is the entry block itself.
    dominators: Vec<usize>,
}

/// Checks the blocks of a function.
pub(super) fn check(globals: &Globals, values: &Values<'_>, function: &Function) -> Result<(), Fault> {
    let graph = Graph::new(function)?;
    for (block_index, block) in function.blocks.iter().enumerate() {
        check_shape(block)?;
        graph.check_branch(values, block)?;
        graph.check_phis(values, block_index)?;
    }
    graph.check_structure()?;
    graph.check_definitions(globals)
}

fn is_terminator(opcode: Op) -> bool {
    matches!(opcode, Op::Branch | Op::BranchConditional | Op::Return)
}

fn is_merge(opcode: Op) -> bool {
    matches!(opcode, Op::SelectionMerge | Op::LoopMerge)
}

/// Returns the terminator of a block, its last instruction.
fn terminator(block: &Block) -> Result<&Instruction, Fault> {
    let last = block.instructions.last().filter(|last| is_terminator(last.class.opcode));
    last.ok_or_else(|| Fault::module(format!("block %{} does not end with a branch", block.label_id().unwrap_or(0))))
}

/// Returns the merge instruction before the terminator of a block, if any.
fn merge(block: &Block) -> Option<&Instruction> {
    let (_, before) = block.instructions.split_last()?;
    before.last().filter(|instruction| is_merge(instruction.class.opcode))
}

/// Checks the order of instructions in a block: phis, other instructions, at most one merge, one terminator.
fn check_shape(block: &Block) -> Result<(), Fault> {
    let end = terminator(block)?;
    let count = block.instructions.len();
    let phis = block.instructions.iter().take_while(|instruction| instruction.class.opcode == Op::Phi).count();
    for (index, instruction) in block.instructions.iter().enumerate() {
        let opcode = instruction.class.opcode;
        require(opcode != Op::Phi || index < phis, instruction, "phis come first in their block")?;
        require(!is_merge(opcode) || index + 2 == count, instruction, "a merge comes just before the branch")?;
        require(!is_terminator(opcode) || index + 1 == count, instruction, "a branch ends its block")?;
    }
    let follows = match (merge(block).map(|merge| merge.class.opcode), end.class.opcode) {
        (None, Op::Branch | Op::Return) | (Some(Op::LoopMerge), Op::Branch | Op::BranchConditional) => true,
        (merge, Op::BranchConditional) => merge.is_some(),
        _ => false,
    };
    require(follows, end, "a conditional branch has a merge before it, and a merge is before a branch")
}

/// Returns the labels that a branch or merge instruction names.
fn targets(instruction: &Instruction) -> &[Operand] {
    let operands = instruction.operands.as_slice();
    match instruction.class.opcode {
        Op::Branch | Op::SelectionMerge => operands.get(..1),
        Op::BranchConditional => operands.get(1..3),
        Op::LoopMerge => operands.get(..2),
        _ => None,
    }
    .unwrap_or_default()
}

impl<'a> Graph<'a> {
    fn new(function: &'a Function) -> Result<Self, Fault> {
        let mut numbers = HashMap::new();
        for (block_index, block) in function.blocks.iter().enumerate() {
            let label = block.label_id().ok_or_else(|| Fault::module("a block has no label"))?;
            numbers.insert(label, block_index);
        }
        let count = function.blocks.len();
        let mut graph = Self {
            function,
            numbers,
            successors: vec![Vec::new(); count],
            predecessors: vec![Vec::new(); count],
            dominators: Vec::new(),
        };
        for (block_index, block) in function.blocks.iter().enumerate() {
            let end = terminator(block)?;
            for label in targets(end) {
                let to = graph.block_of(end, label)?;
                if !graph.successors[block_index].contains(&to) {
                    graph.successors[block_index].push(to);
                    graph.predecessors[to].push(block_index);
                }
            }
        }
        graph.dominate()?;
        Ok(graph)
    }

    fn block_of(&self, instruction: &Instruction, label: &Operand) -> Result<usize, Fault> {
        let block_index = label.id_ref_any().and_then(|label| self.numbers.get(&label));
        block_index.copied().ok_or_else(|| Fault::of(instruction, "names no block of the function"))
    }

    fn label(&self, block_index: usize) -> Word {
        self.function.blocks.get(block_index).and_then(Block::label_id).unwrap_or(0)
    }

    /// Computes immediate dominators by intersecting the dominators of the predecessors until nothing changes. Every
    /// block must come after its dominator, so the dominators of earlier blocks are known.
    fn dominate(&mut self) -> Result<(), Fault> {
        if self.function.blocks.is_empty() {
            return Err(Fault::module("a function has no blocks"));
        }
        if self.predecessors.first().is_some_and(|before| !before.is_empty()) {
            return Err(Fault::module("a branch goes to the entry block"));
        }
        let mut dominators: Vec<Option<usize>> = vec![None; self.function.blocks.len()];
        dominators[0] = Some(0);
        // In a valid order one pass finds the result and another confirms it; invalid orders may never converge.
        for pass in 0.. {
            if pass > dominators.len() {
                return Err(Fault::module("the blocks are not in an order in which dominators come first"));
            }
            let mut changed = false;
            for block in 1..dominators.len() {
                let mut known = self.predecessors[block].iter().copied().filter(|&before| dominators[before].is_some());
                let first = known.next();
                let dominator =
                    first.map(|first| known.fold(first, |a, b| nearest_common_dominator(&dominators, a, b)));
                changed |= dominator != dominators[block];
                dominators[block] = dominator;
            }
            if !changed {
                break;
            }
        }
        for (block, dominator) in dominators.into_iter().enumerate() {
            match dominator {
                Some(dominator) if dominator < block || block == 0 => self.dominators.push(dominator),
                Some(_) => return Err(Fault::module(format!("block %{} is before its dominator", self.label(block)))),
                None => return Err(Fault::module(format!("block %{} cannot be reached", self.label(block)))),
            }
        }
        Ok(())
    }

    fn dominates(&self, a: usize, mut b: usize) -> bool {
        // A dominator has a lower number, except for the entry.
        while b > a {
            b = self.dominators[b];
        }
        a == b
    }

    fn check_branch(&self, values: &Values<'_>, block: &Block) -> Result<(), Fault> {
        let end = terminator(block)?;
        if end.class.opcode == Op::BranchConditional {
            require(values.is_boolean(id(end, 0)?), end, "the condition is one boolean")?;
            require(end.operands.len() == 3, end, "branches have no weights")?;
        }
        match merge(block) {
            Some(merge) => targets(merge).iter().try_for_each(|label| self.block_of(merge, label).map(drop)),
            None => Ok(()),
        }
    }

    /// Checks that a phi has one value for each predecessor.
    fn check_phis(&self, values: &Values<'_>, block_index: usize) -> Result<(), Fault> {
        let instructions = &self.function.blocks[block_index].instructions;
        for phi in instructions.iter().take_while(|instruction| instruction.class.opcode == Op::Phi) {
            values.check_phi(phi)?;
            let mut blocks = HashSet::new();
            for pair in phi.operands.chunks(2) {
                let [_, label] = pair else { return Err(Fault::of(phi, "values come with blocks")) };
                require(blocks.insert(self.block_of(phi, label)?), phi, "a block is named twice")?;
            }
            let before: HashSet<usize> = self.predecessors[block_index].iter().copied().collect();
            require(blocks == before, phi, "the blocks are not those that branch here")?;
        }
        Ok(())
    }

    /// Checks that headers dominate their merge blocks, and that every back edge goes from the continue target of a
    /// loop to its header.
    fn check_structure(&self) -> Result<(), Fault> {
        let mut merged = HashSet::new();
        for (header, block) in self.function.blocks.iter().enumerate() {
            let backward: Vec<_> =
                self.predecessors[header].iter().copied().filter(|&from| self.dominates(header, from)).collect();
            let Some(merge) = merge(block) else {
                if !backward.is_empty() {
                    return Err(Fault::module(format!(
                        "block %{} is entered again without a merge",
                        self.label(header)
                    )));
                }
                continue;
            };
            let blocks =
                targets(merge).iter().map(|label| self.block_of(merge, label)).collect::<Result<Vec<_>, _>>()?;
            for &block in &blocks {
                require(block != header && self.dominates(header, block), merge, "the header dominates its merge")?;
                require(merged.insert(block), merge, "a block is the merge of one header")?;
            }
            match (merge.class.opcode, blocks.as_slice(), backward.as_slice()) {
                (Op::SelectionMerge, [_], []) => {}
                (Op::LoopMerge, &[end, next], &[from]) => {
                    require(self.dominates(next, from), merge, "the edge back comes from the continue target")?;
                    require(!self.dominates(end, from), merge, "the loop does not contain its merge block")?;
                }
                _ => return Err(Fault::of(merge, "a loop has one edge back to its header, a selection none")),
            }
        }
        Ok(())
    }

    /// Checks that every value is defined before its uses on all paths through the function.
    fn check_definitions(&self, globals: &Globals) -> Result<(), Fault> {
        let mut positions: HashMap<Word, InstructionPosition> = HashMap::new();
        for parameter in &self.function.parameters {
            positions.insert(result(parameter)?, (0, 0));
        }
        for (block_index, block) in self.function.blocks.iter().enumerate() {
            for (index, instruction) in block.instructions.iter().enumerate() {
                if let Some(result) = instruction.result_id {
                    positions.insert(result, (block_index, index + 1));
                }
            }
        }
        for (block_index, block) in self.function.blocks.iter().enumerate() {
            for (index, instruction) in block.instructions.iter().enumerate() {
                for (used, position) in self.uses(instruction, (block_index, index + 1))? {
                    let before = match positions.get(&used) {
                        Some(&(block, index)) if block == position.0 => index < position.1,
                        Some(&(block, _)) => self.dominates(block, position.0),
                        None => globals.value_types.contains_key(&used) || globals.extended == Some(used),
                    };
                    if !before {
                        return Err(Fault::of(instruction, format!("%{used} is not defined on every way here")));
                    }
                }
            }
        }
        Ok(())
    }

    /// Returns the values that an instruction uses, each with the position that the value's definition must dominate;
    /// for a phi that is the end of the predecessor block.
    fn uses(
        &self,
        instruction: &Instruction,
        position: InstructionPosition,
    ) -> Result<Vec<(Word, InstructionPosition)>, Fault> {
        let opcode = instruction.class.opcode;
        if opcode == Op::Phi {
            let pairs = instruction.operands.chunks_exact(2);
            let uses = pairs.map(|pair| {
                Ok((pair[0].id_ref_any().unwrap_or(0), (self.block_of(instruction, &pair[1])?, usize::MAX)))
            });
            return uses.collect();
        }
        let values = match opcode {
            Op::Branch | Op::SelectionMerge | Op::LoopMerge => &[],
            Op::BranchConditional => instruction.operands.get(..1).unwrap_or_default(),
            // The callee is a function, not a value.
            Op::FunctionCall => instruction.operands.get(1..).unwrap_or_default(),
            _ => instruction.operands.as_slice(),
        };
        Ok(values.iter().filter_map(Operand::id_ref_any).map(|used| (used, position)).collect())
    }
}

/// Returns the nearest block that dominates both `a` and `b`.
fn nearest_common_dominator(dominators: &[Option<usize>], mut a: usize, mut b: usize) -> usize {
    // If numbers do not decrease towards the entry, the order of blocks is invalid; zero ends the search.
    while a != b {
        let lower = if a > b { &mut a } else { &mut b };
        *lower = dominators.get(*lower).copied().flatten().filter(|up| up < lower).unwrap_or(0);
    }
    a
}
