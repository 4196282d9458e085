//! Records forward references: uses of values before their definition in the text.

use std::collections::{BTreeSet, HashMap};

use super::draft::Used;
use crate::{Region, TileType, Value};

/// A use of a value that is not yet defined.
#[derive(Debug, Clone, Copy)]
pub(super) struct ForwardReference<'a> {
    pub name: &'a str,
    /// The number 1 in `%name#1`: the index among the results that share the name; `None` if the use has no number.
    pub result_index: Option<u32>,
    pub stand_in: Value,
    /// Byte offset in the text at which the value is used.
    pub at: usize,
}

/// The forward references of the function that is being parsed.
///
/// Placeholders, which are values of no body, stand for values that are not defined yet.
#[derive(Debug, Default)]
pub(super) struct ForwardReferences {
    count: u32,
    /// For each resolved placeholder, its value.
    pub known: HashMap<Value, Value>,
    /// Each use of a placeholder, with the type that the use expects.
    pub types: Vec<(Used, TileType)>,
    /// The regions that have uses before definitions.
    pub regions: BTreeSet<Region>,
}

impl ForwardReferences {
    pub fn is_stand_in(&self, value: Value) -> bool {
        value.0 > u32::MAX - self.count
    }

    /// Records the type that a use of a placeholder expects.
    pub fn record_expected_type(&mut self, used: Used, ty: TileType) {
        self.types.push((used, ty));
    }

    /// Creates a placeholder: a value that belongs to no body.
    pub fn create_placeholder(&mut self) -> Value {
        self.count += 1;
        Value(u32::MAX - self.count + 1)
    }
}
