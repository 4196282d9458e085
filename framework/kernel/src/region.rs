//! Regions and the statements in them.

use serde::{Deserialize, Serialize};

use super::{Op, Type, Value};

/// Regions may nest this deep.
pub const MAX_DEPTH: usize = 64;

/// Statements that run in order.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Region {
    /// Values that the region is entered with, and their types.
    pub arguments: Vec<(Value, Type)>,
    /// What it does.
    pub statements: Vec<Statement>,
}

/// One operation with the values that it defines.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Statement {
    /// The values defined, and their types.
    pub results: Vec<(Value, Type)>,
    /// The operation.
    pub op: Op,
}

impl Region {
    pub(crate) fn collect_statements<'a>(&'a self, into: &mut Vec<&'a Statement>) {
        for statement in &self.statements {
            into.push(statement);
            statement.op.regions().into_iter().for_each(|region| region.collect_statements(into));
        }
    }

    pub(crate) fn value_limit(&self) -> u32 {
        let own = self.arguments.iter().chain(self.statements.iter().flat_map(|statement| &statement.results));
        let own = own.map(|(value, _)| value.0.saturating_add(1));
        let inner = self.statements.iter().flat_map(|statement| statement.op.regions()).map(Self::value_limit);
        own.chain(inner).max().unwrap_or(0)
    }
}
