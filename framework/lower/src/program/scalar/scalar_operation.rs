//! One elementwise operation on scalars: its operands, element types and attributes.

use smallvec::SmallVec;
use tilewright_kernel::{Builder, Value};
use tilewright_math::casts::NativeCasts;
use tilewright_tile::{Attribute, Operation, TileType};

use super::division_width::CheaperDivision;

/// An operation on scalars: the builder, its operands, element types and attributes.
pub(super) struct Scalar<'a> {
    pub(super) builder: &'a mut Builder,
    pub(super) operation: &'a Operation,
    /// The element types of the operation's operands.
    pub(super) from: &'a [TileType],
    /// The element types of the operation's results.
    pub(super) to: &'a [TileType],
    /// The target's instructions for casts.
    pub(super) native: NativeCasts,
    /// The division that takes the place of the operation, if it is an integer division.
    pub(super) division: Option<CheaperDivision>,
    /// The kernel values of the operation's operands.
    pub(super) values: &'a [Value],
}

/// The results of an operation on scalars.
pub(super) type Results = SmallVec<[Value; 2]>;

impl Scalar<'_> {
    /// The element type of the operation's first operand.
    pub(super) fn element(&self) -> &TileType {
        self.from.first().unwrap_or(&TileType::BOOLEAN)
    }

    pub(super) fn keyword(&self, name: &str) -> &str {
        let by_default = || self.operation.definition.find_attribute(name)?.default.as_ref();
        let found = self.operation.attributes.get(name).or_else(by_default);
        found.and_then(Attribute::as_text).unwrap_or_default()
    }
}

pub(super) fn one(value: Value) -> Results {
    Results::from_slice(&[value])
}
