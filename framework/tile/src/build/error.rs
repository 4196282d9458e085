//! Errors of the function builder.

use std::sync::Arc;

use thiserror::Error;

/// An error in the use of a function builder: an operation that it cannot build.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum BuildError {
    /// No dialect has this operation.
    #[error("there is no operation `{0}`")]
    UnknownOperation(String),
    /// The operation has no operand group of this name in its definition.
    #[error("`{operation}` has no operands `{group}`")]
    UnknownGroup {
        /// Name of the operation.
        operation: Arc<str>,
        /// Name of the operand group.
        group: String,
    },
    /// There are more operands than the operation accepts.
    #[error("`{0}` does not take so many operands")]
    TooManyOperands(Arc<str>),
    /// The type of a result was not given, and cannot be inferred from the operands.
    #[error("the type of the result `{result}` of `{operation}` cannot be inferred: pass it")]
    UnknownType {
        /// Name of the operation.
        operation: Arc<str>,
        /// Name of the result group.
        result: String,
    },
    /// The number of given result types does not match the operation.
    #[error("`{operation}` does not have {count} results")]
    WrongResults {
        /// Name of the operation.
        operation: Arc<str>,
        /// The number of given result types.
        count: usize,
    },
    /// The operation does not have exactly one result.
    #[error("`{operation}` has {count} results, not one")]
    NotOneResult {
        /// Name of the operation.
        operation: Arc<str>,
        /// The number of results of the operation.
        count: usize,
    },
}
