//! Keeps the scopes of value and block names, one per region.

use std::collections::HashMap;

use super::forward_refs::ForwardReference;
use crate::{Block, Value};

/// The names of values and blocks in the current region and in enclosing regions.
#[derive(Default)]
pub(super) struct Scopes<'a> {
    open: Vec<Scope<'a>>,
}

#[derive(Default)]
struct Scope<'a> {
    /// For each name of values: the first value with this name, and the number of consecutive values that share it.
    values: HashMap<&'a str, (Value, u32)>,
    blocks: HashMap<&'a str, Known>,
    /// The forward references (uses before definitions) in this region.
    forward_refs: Vec<ForwardReference<'a>>,
    /// Whether names of enclosing regions are hidden in this region.
    isolated: bool,
}

/// A block that the text has named, by its label or in a branch to it.
#[derive(Clone, Copy)]
pub(super) struct Known {
    pub block: Block,
    /// Byte offset in the text at which the block is first named.
    pub at: usize,
    /// Whether the label of the block was parsed.
    pub defined: bool,
}

impl<'a> Scopes<'a> {
    pub fn enter(&mut self, isolated: bool) {
        self.open.push(Scope { isolated, ..Scope::default() });
    }

    /// Leaves the current region, and returns the first block that was named but not defined; `None` if all are
    /// defined.
    pub fn leave_region(&mut self) -> Option<(&'a str, Known)> {
        let left = self.open.pop()?;
        left.blocks.into_iter().filter(|(_, known)| !known.defined).min_by_key(|(_, known)| known.at)
    }

    /// The first value with this name, and the number of values that share it; `None` if no visible region defines it.
    pub fn find_value(&self, name: &str) -> Option<(Value, u32)> {
        self.visible().find_map(|scope| scope.values.get(name).copied())
    }

    /// The scopes of the current region and the enclosing ones, innermost first, up to and including an isolated one.
    fn visible(&self) -> impl Iterator<Item = &Scope<'a>> {
        let mut hidden = false;
        self.open.iter().rev().take_while(move |scope| !std::mem::replace(&mut hidden, scope.isolated))
    }

    /// Gives one name to `count` consecutive values, from `first` on. Returns false, and does nothing, if a visible
    /// region already defines the name.
    pub fn define_values(&mut self, name: &'a str, first: Value, count: u32) -> bool {
        let taken = self.find_value(name).is_some();
        if let Some(scope) = self.open.last_mut().filter(|_| !taken) {
            scope.values.insert(name, (first, count));
        }
        !taken
    }

    /// Returns the block with this name in the current region; if the name is not in use yet, `make` creates the block.
    /// `at` is the byte offset in the text at which the name is used.
    pub fn find_or_create_block(
        &mut self,
        name: &'a str,
        at: usize,
        make: impl FnOnce() -> Block,
    ) -> Option<&mut Known> {
        let scope = self.open.last_mut()?;
        Some(scope.blocks.entry(name).or_insert_with(|| Known { block: make(), at, defined: false }))
    }

    /// Whether the current region, or a visible enclosing one, has named blocks.
    pub fn has_named_blocks(&self) -> bool {
        self.visible().any(|scope| !scope.blocks.is_empty())
    }

    /// Records a forward reference.
    pub fn add_forward_ref(&mut self, reference: ForwardReference<'a>) {
        if let Some(scope) = self.open.last_mut() {
            scope.forward_refs.push(reference);
        }
    }

    /// Returns the forward references of the current region, and removes them from it.
    pub fn take_forward_refs(&mut self) -> Vec<ForwardReference<'a>> {
        self.open.last_mut().map(|scope| std::mem::take(&mut scope.forward_refs)).unwrap_or_default()
    }

    /// Adds a forward reference to the enclosing region. Returns false if there is none, or if its names are hidden.
    pub fn move_to_enclosing_region(&mut self, reference: ForwardReference<'a>) -> bool {
        match &mut self.open[..] {
            [.., around, Scope { isolated: false, .. }] => {
                around.forward_refs.push(reference);
                true
            }
            _ => false,
        }
    }

    /// The names of all visible values.
    pub fn visible_value_names(&self) -> impl Iterator<Item = &'a str> + '_ {
        self.open.iter().flat_map(|scope| scope.values.keys().copied())
    }
}
