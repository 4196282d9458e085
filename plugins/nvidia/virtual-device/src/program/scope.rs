//! Names of a kernel: registers, variables and labels. A name is visible in the scope `{...}` that declares it and in
//! inner scopes.

use std::collections::HashMap;

use crate::machine::PtxSpace;
use crate::text::Statement;

/// The entity that a name refers to: a register or a variable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Entity {
    Register { index: u32, bits: u32 },
    Memory { space: PtxSpace, address: u64 },
}

/// Registers with a common prefix and consecutive numbers, as `.reg .b32 %r<10>` declares.
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

/// The open scopes `{...}` around a statement, the innermost last, with the names that they declare.
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
            let (prefix, index) = name.split_at(name.len() - count);
            let family = self.numbered.get(prefix)?;
            let index = index.parse::<u32>().ok().filter(|&index| index < family.count)?;
            Some(Entity::Register { index: family.first + index, bits: family.bits })
        })
    }
}

/// The labels and branch tables of all scopes of a kernel. Scopes are numbered in the order of their opening braces.
#[derive(Debug, Default)]
pub(super) struct Labels {
    steps: HashMap<(usize, String), u32>,
    tables: HashMap<(usize, String), Vec<String>>,
    /// For each scope, the index of its enclosing scope; `None` for the outermost.
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

    /// Returns the step (index of an instruction) of the label `name`; `None` if no such label is visible in the scope
    /// with index `block`.
    pub(super) fn step(&self, block: usize, name: &str) -> Option<u32> {
        self.enclosing_blocks(block).find_map(|block| self.steps.get(&(block, name.to_owned())).copied())
    }

    /// Returns the labels of the branch table `name`; `None` if no such table is visible in the scope with index
    /// `block`.
    pub(super) fn table(&self, block: usize, name: &str) -> Option<&[String]> {
        self.enclosing_blocks(block).find_map(|block| self.tables.get(&(block, name.to_owned()))).map(Vec::as_slice)
    }

    fn enclosing_blocks(&self, block: usize) -> impl Iterator<Item = usize> {
        std::iter::successors(Some(block), |&block| self.around.get(block).copied().flatten())
    }
}
