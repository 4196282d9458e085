//! One elementwise operation on scalars: its operands, element types and attributes.

use smallvec::SmallVec;
use tilewright_kernel::{Builder, Value};
use tilewright_tile::{Attribute, Operation, TileType};

/// One operation on scalars.
pub(super) struct Scalar<'a> {
    pub(super) builder: &'a mut Builder,
    pub(super) operation: &'a Operation,
    /// The elements of its operands.
    pub(super) from: &'a [TileType],
    /// The elements of its results.
    pub(super) to: &'a [TileType],
    /// The operands.
    pub(super) values: &'a [Value],
}

/// Results of an operation on scalars.
pub(super) type Results = SmallVec<[Value; 2]>;

impl Scalar<'_> {
    /// The element of the first operand.
    pub(super) fn element(&self) -> &TileType {
        self.from.first().unwrap_or(&TileType::BOOLEAN)
    }

    pub(super) fn word(&self, name: &str) -> &str {
        let by_default = || self.operation.definition.attribute(name)?.default.as_ref();
        let found = self.operation.attributes.get(name).or_else(by_default);
        found.and_then(Attribute::as_text).unwrap_or_default()
    }
}

pub(super) fn one(value: Value) -> Results {
    Results::from_slice(&[value])
}
