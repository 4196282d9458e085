//! Names of a kernel: registers, variables and labels, each known in its block and those within.

use std::collections::HashMap;

use crate::machine::PtxSpace;
use crate::text::Statement;

/// What a name stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Entity {
    Register { number: u32, bits: u32 },
    Memory { space: PtxSpace, address: u64 },
}

/// Registers of one name with numbers behind it.
#[derive(Debug, Clone, Copy)]
struct Numbered {
    first: u32,
    count: u32,
    bits: u32,
}

#[derive(Debug, Default)]
struct Block {
    names: HashMap<String, Entity>,
    numbered: HashMap<String, Numbered>,
}

/// The blocks around a statement, the innermost last.
#[derive(Debug, Default)]
pub(super) struct Scope {
    blocks: Vec<Block>,
}

impl Scope {
    pub(super) fn open(&mut self) {
        self.blocks.push(Block::default());
    }

    pub(super) fn close(&mut self) {
        self.blocks.pop();
    }

    pub(super) fn declare(&mut self, name: String, entity: Entity) {
        if let Some(block) = self.blocks.last_mut() {
            block.names.insert(name, entity);
        }
    }

    pub(super) fn declare_numbered(&mut self, name: String, first: u32, count: u32, bits: u32) {
        if let Some(block) = self.blocks.last_mut() {
            block.numbered.insert(name, Numbered { first, count, bits });
        }
    }

    pub(super) fn find(&self, name: &str) -> Option<Entity> {
        self.blocks.iter().rev().find_map(|block| block.find(name))
    }

    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.blocks.iter().flat_map(|block| block.names.keys().map(String::as_str))
    }
}

impl Block {
    fn find(&self, name: &str) -> Option<Entity> {
        if let Some(&entity) = self.names.get(name) {
            return Some(entity);
        }
        let digits = name.len() - name.trim_end_matches(|c: char| c.is_ascii_digit()).len();
        (1..=digits).find_map(|count| {
            let (prefix, number) = name.split_at(name.len() - count);
            let family = self.numbered.get(prefix)?;
            let number = number.parse::<u32>().ok().filter(|&number| number < family.count)?;
            Some(Entity::Register { number: family.first + number, bits: family.bits })
        })
    }
}

/// Labels of all blocks of a kernel. Blocks are numbered as they open.
#[derive(Debug, Default)]
pub(super) struct Labels {
    steps: HashMap<(usize, String), u32>,
    tables: HashMap<(usize, String), Vec<String>>,
    /// The block around each.
    around: Vec<Option<usize>>,
}

impl Labels {
    pub(super) fn of(body: &[Statement]) -> Self {
        let mut labels = Self::default();
        let (mut open, mut step) = (Vec::new(), 0);
        for statement in body {
            let own = open.last().copied();
            match statement {
                Statement::Open => {
                    open.push(labels.around.len());
                    labels.around.push(own);
                }
                Statement::Close => {
                    open.pop();
                }
                Statement::Label { name, .. } => {
                    labels.steps.insert((own.unwrap_or(0), name.clone()), step);
                }
                Statement::Targets { name, labels: targets, .. } => {
                    labels.tables.insert((own.unwrap_or(0), name.clone()), targets.clone());
                }
                Statement::Instruction(_) => step += 1,
                _ => {}
            }
        }
        labels
    }

    /// The step of a label, seen from a block.
    pub(super) fn step(&self, block: usize, name: &str) -> Option<u32> {
        self.outward(block).find_map(|block| self.steps.get(&(block, name.to_owned())).copied())
    }

    /// The labels of a table.
    pub(super) fn table(&self, block: usize, name: &str) -> Option<&[String]> {
        self.outward(block).find_map(|block| self.tables.get(&(block, name.to_owned()))).map(Vec::as_slice)
    }

    fn outward(&self, block: usize) -> impl Iterator<Item = usize> {
        std::iter::successors(Some(block), |&block| self.around.get(block).copied().flatten())
    }
}
