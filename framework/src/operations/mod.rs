//! The operations of the layout algebras by name, on inputs in JSON: [`algebra`] on linear layouts,
//! [`cute`] on CuTe's. One table of names serves everybody who reads questions or known answers.

mod algebra;
mod cute;

use serde_json::Value as Json;
use thiserror::Error;

pub use algebra::algebra;
pub use cute::cute;

/// Why an operation that was asked for by name has no result; always the caller's fault.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum OperationError {
    /// There is no operation of this name.
    #[error("unknown operation `{name}`; known are {}", .known.join(", "))]
    Unknown {
        /// The name.
        name: String,
        /// The names that there are.
        known: Vec<&'static str>,
    },
    /// An input is missing or of the wrong type.
    #[error("{0}")]
    Inputs(String),
    /// An input should be a layout and is none.
    #[error("{0}")]
    Layout(String),
    /// The operation is not defined on these inputs, which are well-formed.
    #[error("{0}")]
    Undefined(String),
}

/// The operation of a table.
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
