//! What the names of values and blocks stand for, region by region.

use std::collections::HashMap;

use super::late::ForwardReference;
use crate::{Block, Value};

/// Names of values: those of the region being read, and of the regions around it.
#[derive(Default)]
pub(super) struct Scopes<'a> {
    open: Vec<Scope<'a>>,
}

#[derive(Default)]
struct Scope<'a> {
    /// The first value of a name, and how many follow each other.
    values: HashMap<&'a str, (Value, u32)>,
    blocks: HashMap<&'a str, Known>,
    /// Uses of names that are not defined yet.
    late: Vec<ForwardReference<'a>>,
    /// Whether names from outside are hidden.
    isolated: bool,
}

/// A block that has a name.
#[derive(Clone, Copy)]
pub(super) struct Known {
    pub block: Block,
    /// Where it was first spoken of.
    pub at: usize,
    /// Whether its label was read.
    pub defined: bool,
}

impl<'a> Scopes<'a> {
    pub fn enter(&mut self, isolated: bool) {
        self.open.push(Scope { isolated, ..Scope::default() });
    }

    /// Leaves a region, and gives a block that was spoken of but not defined, if there is one.
    pub fn leave(&mut self) -> Option<(&'a str, Known)> {
        let left = self.open.pop()?;
        left.blocks.into_iter().filter(|(_, known)| !known.defined).min_by_key(|(_, known)| known.at)
    }

    /// The values of a name.
    pub fn value(&self, name: &str) -> Option<(Value, u32)> {
        self.visible().find_map(|scope| scope.values.get(name).copied())
    }

    /// The region being read, and those around it whose names are not hidden.
    fn visible(&self) -> impl Iterator<Item = &Scope<'a>> {
        let mut hidden = false;
        self.open.iter().rev().take_while(move |scope| !std::mem::replace(&mut hidden, scope.isolated))
    }

    /// Gives a name to values that follow each other; false where it is taken.
    pub fn define(&mut self, name: &'a str, first: Value, count: u32) -> bool {
        let taken = self.value(name).is_some();
        if let Some(scope) = self.open.last_mut().filter(|_| !taken) {
            scope.values.insert(name, (first, count));
        }
        !taken
    }

    /// The block of a name in the region being read; made where it is spoken of for the first time.
    pub fn block(&mut self, name: &'a str, at: usize, make: impl FnOnce() -> Block) -> Option<&mut Known> {
        let scope = self.open.last_mut()?;
        Some(scope.blocks.entry(name).or_insert_with(|| Known { block: make(), at, defined: false }))
    }

    /// Whether the region being read, or one around it that it sees, has blocks with names.
    pub fn has_blocks(&self) -> bool {
        self.visible().any(|scope| !scope.blocks.is_empty())
    }

    /// Notes a use of a name that is not defined yet.
    pub fn add_late(&mut self, late: ForwardReference<'a>) {
        if let Some(scope) = self.open.last_mut() {
            scope.late.push(late);
        }
    }

    /// The uses within the region being read of names that were not defined then.
    pub fn take_late(&mut self) -> Vec<ForwardReference<'a>> {
        self.open.last_mut().map(|scope| std::mem::take(&mut scope.late)).unwrap_or_default()
    }

    /// Leaves a use to the region around the one being read; false where it sees none.
    pub fn hand_on(&mut self, late: ForwardReference<'a>) -> bool {
        match &mut self.open[..] {
            [.., around, Scope { isolated: false, .. }] => {
                around.late.push(late);
                true
            }
            _ => false,
        }
    }

    /// Every name that can be used here.
    pub fn names(&self) -> impl Iterator<Item = &'a str> + '_ {
        self.open.iter().flat_map(|scope| scope.values.keys().copied())
    }
}
