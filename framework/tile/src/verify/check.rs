//! The operation under verification, and helpers of its checks.

use super::context::Context;
use crate::{Body, Function, Op, Operation, TileModule, TileType, Value};

/// The operation under verification, and its context.
pub(super) struct Check<'a> {
    pub(super) module: &'a TileModule,
    pub(super) function: &'a Function,
    pub(super) body: &'a Body,
    pub(super) op: Op,
    pub(super) operation: &'a Operation,
    pub(super) context: &'a Context<'a>,
}

/// The result of a check: a message about the violated rule.
pub(super) type Checked = Result<(), String>;

impl<'a> Check<'a> {
    pub(super) fn ty(&self, value: Value) -> &'a TileType {
        self.body.ty(value)
    }

    /// The type of the first operand of the group with this name; `None` if there is none.
    pub(super) fn operand_type(&self, group: &str) -> Option<&'a TileType> {
        self.body.operand(self.op, group).map(|value| self.ty(value))
    }

    pub(super) fn result_type(&self) -> Option<&'a TileType> {
        self.operation.results.first().map(|value| self.ty(*value))
    }

    pub(super) fn types(&self, values: &[Value]) -> Vec<&'a TileType> {
        values.iter().map(|value| self.ty(*value)).collect()
    }

    /// The value of an integer attribute; `None` if the operation does not have it.
    pub(super) fn integer(&self, name: &str) -> Option<i64> {
        self.operation.attributes.get(name).and_then(super::super::Attribute::as_integer)
    }
}

/// Fails with the message unless `holds`.
pub(super) fn ensure(holds: bool, message: impl FnOnce() -> String) -> Checked {
    if holds { Ok(()) } else { Err(message()) }
}

/// The text of a list of types, for a message.
pub(super) fn listed(types: &[&TileType]) -> String {
    let types: Vec<_> = types.iter().map(|ty| format!("`{ty}`")).collect();
    if types.is_empty() { "nothing".to_owned() } else { types.join(", ") }
}
