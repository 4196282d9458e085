//! Uses of values before the text defines them, as far as they are known.

use std::collections::{BTreeSet, HashMap};

use super::draft::Used;
use crate::{Region, TileType, Value};

/// A use whose value is not known yet.
#[derive(Debug, Clone, Copy)]
pub(super) struct ForwardReference<'a> {
    pub name: &'a str,
    /// The number of a result, where it is said.
    pub place: Option<u32>,
    pub stand_in: Value,
    /// The place of the use.
    pub at: usize,
}

/// The late uses of the function being read.
#[derive(Debug, Default)]
pub(super) struct ForwardReferences {
    count: u32,
    /// What stood in, and the value.
    pub known: HashMap<Value, Value>,
    /// The types that are expected of values that are not known yet.
    pub types: Vec<(Used, TileType)>,
    /// The regions in which values are used before they are defined.
    pub regions: BTreeSet<Region>,
}

impl ForwardReferences {
    pub fn is_stand_in(&self, value: Value) -> bool {
        value.0 > u32::MAX - self.count
    }

    /// Notes which type a value must have that is not known yet.
    pub fn expect(&mut self, used: Used, ty: TileType) {
        self.types.push((used, ty));
    }

    /// A value of no body, for one that is not known yet.
    pub fn stand_in(&mut self) -> Value {
        self.count += 1;
        Value(u32::MAX - self.count + 1)
    }
}
