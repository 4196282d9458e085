//! Gives rules access to the operation under verification: its operands, results, attributes and surroundings.

use super::context::Context;
use crate::{Attribute, Function, FunctionBody, MemDescType, Op, Operation, TileModule, TileType, Value};

/// The operation under verification, and its context.
///
/// A rule reads the types of groups and the attributes by the names in the operation's row of the dialect file. If the
/// operation does not have a group or attribute, the method returns `None` or an empty list, and the rule accepts the
/// operation.
pub struct OpContext<'a> {
    pub(super) module: &'a TileModule,
    pub(super) function: &'a Function,
    pub(super) body: &'a FunctionBody,
    pub(super) op: Op,
    pub(super) operation: &'a Operation,
    pub(super) context: &'a Context<'a>,
}

/// The result of a check; an error is a message about the violated rule.
pub type CheckResult = Result<(), String>;

impl<'a> OpContext<'a> {
    /// Returns the operation under verification.
    #[must_use]
    pub fn operation(&self) -> &'a Operation {
        self.operation
    }

    /// Returns the function body that contains the operation.
    #[must_use]
    pub fn body(&self) -> &'a FunctionBody {
        self.body
    }

    /// Returns the number of blocks of a cluster, which the module states; 1 if it states none.
    #[must_use]
    pub fn cluster_blocks(&self) -> u64 {
        self.context.blocks
    }

    /// Returns the number of warps that execute the operation; `None` if the program does not state it.
    #[must_use]
    pub fn warps(&self) -> Option<u64> {
        self.context.warps_of(self.op)
    }

    /// The module's attribute `ttg.target`, such as `cuda:90`; `None` if there is none.
    #[must_use]
    pub fn target_attribute(&self) -> Option<&'a str> {
        self.context.target.as_deref()
    }

    /// An attribute of the module; `None` if the module does not have it.
    #[must_use]
    pub fn module_attribute(&self, name: &str) -> Option<&'a Attribute> {
        self.module.attributes.get(name)
    }

    /// The type of a value.
    #[must_use]
    pub fn value_type(&self, value: Value) -> &'a TileType {
        self.body.value_type(value)
    }

    /// The type of the first operand of the group with this name; `None` if there is none.
    pub(super) fn operand_type(&self, group: &str) -> Option<&'a TileType> {
        self.body.operand(self.op, group).map(|value| self.value_type(value))
    }

    pub(super) fn result_type(&self) -> Option<&'a TileType> {
        self.operation.results.first().map(|value| self.value_type(*value))
    }

    pub(super) fn types(&self, values: &[Value]) -> Vec<&'a TileType> {
        values.iter().map(|value| self.value_type(*value)).collect()
    }

    /// The types of the values of an operand or result group; empty if the operation has no group of this name.
    #[must_use]
    pub fn group_types(&self, name: &str) -> Vec<&'a TileType> {
        let definition = &self.operation.definition;
        match (definition.operand_group_index(name), definition.result_group_index(name)) {
            (Some(group), _) => self.types(self.operation.operand_group(group)),
            (None, Some(group)) => self.types(self.operation.result_group(group)),
            (None, None) => Vec::new(),
        }
    }

    /// The type of the first value of an operand or result group; `None` if there is none.
    #[must_use]
    pub fn group_type(&self, group: &str) -> Option<&'a TileType> {
        self.group_types(group).first().copied()
    }

    /// The type of the first value of a group; `None` if there is none, or if it is not in memory.
    #[must_use]
    pub fn memory_type(&self, group: &str) -> Option<&'a MemDescType> {
        self.group_type(group).and_then(TileType::as_memory)
    }

    /// Returns the types of the values of several operand or result groups, in the order of the groups.
    #[must_use]
    pub fn types_of_groups(&self, groups: &[String]) -> Vec<&'a TileType> {
        groups.iter().flat_map(|group| self.group_types(group)).collect()
    }

    /// The value of an integer attribute; `None` if the operation does not have it, or if it is no integer.
    #[must_use]
    pub fn integer_attribute(&self, name: &str) -> Option<i64> {
        self.operation.attributes.get(name).and_then(Attribute::as_integer)
    }

    /// The integers of an array or list attribute; `None` if the operation does not have it, or if an element is no
    /// integer.
    #[must_use]
    pub fn integer_list_attribute(&self, name: &str) -> Option<Vec<i64>> {
        self.operation.attributes.get(name)?.as_integers()
    }

    /// The text of a string, keyword or symbol attribute; `None` if the operation does not have it.
    #[must_use]
    pub fn text_attribute(&self, name: &str) -> Option<&'a str> {
        self.operation.attributes.get(name).and_then(Attribute::as_text)
    }

    /// Whether the operation has a unit attribute of this name, or a bool attribute that is `true`.
    #[must_use]
    pub fn is_attribute_set(&self, name: &str) -> bool {
        matches!(self.operation.attributes.get(name), Some(Attribute::Unit | Attribute::Bool(true)))
    }
}

/// Fails with the message unless `holds`.
///
/// # Errors
/// The message.
pub fn ensure(holds: bool, message: impl FnOnce() -> String) -> CheckResult {
    if holds { Ok(()) } else { Err(message()) }
}

/// The text of a list of types, for a message.
#[must_use]
pub fn format_type_list(types: &[&TileType]) -> String {
    let types: Vec<_> = types.iter().map(|ty| format!("`{ty}`")).collect();
    if types.is_empty() { "nothing".to_owned() } else { types.join(", ") }
}
