//! One operation under verification, and the results of its checks.

use crate::{Body, Function, Op, Operation, TileModule, TileType, Value};

/// One operation, and what is around it.
pub(super) struct Check<'a> {
    pub(super) module: &'a TileModule,
    pub(super) function: &'a Function,
    pub(super) body: &'a Body,
    pub(super) op: Op,
    pub(super) operation: &'a Operation,
}

/// What is checked; the rule in words where it is broken.
pub(super) type Checked = Result<(), String>;

impl<'a> Check<'a> {
    pub(super) fn ty(&self, value: Value) -> &'a TileType {
        self.body.ty(value)
    }

    /// The type of the first operand, or result, of a group.
    pub(super) fn operand_type(&self, group: &str) -> Option<&'a TileType> {
        self.body.operand(self.op, group).map(|value| self.ty(value))
    }

    pub(super) fn result_type(&self) -> Option<&'a TileType> {
        self.operation.results.first().map(|value| self.ty(*value))
    }

    pub(super) fn types(&self, values: &[Value]) -> Vec<&'a TileType> {
        values.iter().map(|value| self.ty(*value)).collect()
    }

    /// An integer attribute.
    pub(super) fn integer(&self, name: &str) -> Option<i64> {
        self.operation.attributes.get(name).and_then(super::super::Attribute::as_integer)
    }
}

/// Fails with a message where the rule does not hold.
pub(super) fn ensure(holds: bool, message: impl FnOnce() -> String) -> Checked {
    if holds { Ok(()) } else { Err(message()) }
}

/// Types in a message.
pub(super) fn listed(types: &[&TileType]) -> String {
    let types: Vec<_> = types.iter().map(|ty| format!("`{ty}`")).collect();
    if types.is_empty() { "nothing".to_owned() } else { types.join(", ") }
}
