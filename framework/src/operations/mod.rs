//! Operations of the layout algebras by name with JSON inputs: [`algebra`] on linear layouts, [`cute`] on CuTe layouts.
//! The command, the C interface and known-answer tests share these tables.

mod algebra;
mod cute;

use serde_json::Value as Json;
use thiserror::Error;

pub use algebra::algebra;
pub use cute::cute;

/// The reason why a named operation has no result; always the caller's fault.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum OperationError {
    /// No operation has the given name.
    #[error("unknown operation `{name}`; known are {}", .known.join(", "))]
    Unknown {
        /// The name that the caller gave.
        name: String,
        /// The names of all operations.
        known: Vec<&'static str>,
    },
    /// An input is missing or of the wrong type.
    #[error("{0}")]
    Inputs(String),
    /// An input is not a layout, although it should be.
    #[error("{0}")]
    Layout(String),
    /// The operation is undefined on these well-formed inputs.
    #[error("{0}")]
    Undefined(String),
}

/// Finds an operation by its name in a table.
fn find<T>(table: &'static [(&'static str, T)], name: &str) -> Result<&'static T, OperationError> {
    table.iter().find(|(known, _)| *known == name).map(|(_, operation)| operation).ok_or_else(|| {
        OperationError::Unknown { name: name.to_owned(), known: table.iter().map(|(name, _)| *name).collect() }
    })
}

fn wrong(message: impl Into<String>) -> OperationError {
    OperationError::Inputs(message.into())
}

fn field<'a>(inputs: &'a Json, name: &str) -> Result<&'a Json, OperationError> {
    inputs.get(name).ok_or_else(|| wrong(format!("`{name}` is missing from `inputs`")))
}
