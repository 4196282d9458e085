//! Forward references: uses of values before their definition.

use std::collections::{BTreeSet, HashMap};

use super::draft::Used;
use crate::{Region, TileType, Value};

/// A use of a value that is not yet defined.
#[derive(Debug, Clone, Copy)]
pub(super) struct ForwardReference<'a> {
    pub name: &'a str,
    /// The index in `%name#1`, among the results with one name; `None` if the use has no index.
    pub result_index: Option<u32>,
    pub stand_in: Value,
    /// The byte of the text at which the value is used.
    pub at: usize,
}

/// The forward references of the function that is being parsed. Placeholder values stand for the values until they are
/// defined.
#[derive(Debug, Default)]
pub(super) struct ForwardReferences {
    count: u32,
    /// For each resolved placeholder, its value.
    pub known: HashMap<Value, Value>,
    /// The type that each use of a placeholder expects.
    pub types: Vec<(Used, TileType)>,
    /// The regions that have uses before definitions.
    pub regions: BTreeSet<Region>,
}

impl ForwardReferences {
    pub fn is_stand_in(&self, value: Value) -> bool {
        value.0 > u32::MAX - self.count
    }

    /// Records the type that a placeholder's value must have.
    pub fn expect(&mut self, used: Used, ty: TileType) {
        self.types.push((used, ty));
    }

    /// Creates a placeholder: a value that belongs to no body.
    pub fn stand_in(&mut self) -> Value {
        self.count += 1;
        Value(u32::MAX - self.count + 1)
    }
}
