//! Why an operation cannot be made.

use std::sync::Arc;

use thiserror::Error;

/// An operation that cannot be made; the fault of whoever makes it.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum BuildError {
    /// No dialect has it.
    #[error("there is no operation `{0}`")]
    UnknownOperation(String),
    /// It has no such group of operands.
    #[error("`{operation}` has no operands `{group}`")]
    UnknownGroup {
        /// The operation.
        operation: Arc<str>,
        /// The group.
        group: String,
    },
    /// More operands were given than it has places for.
    #[error("`{0}` has no place for so many operands")]
    TooManyOperands(Arc<str>),
    /// The types of its results neither follow from others nor were given.
    #[error("the type of the result `{result}` of `{operation}` does not follow from others: give it")]
    UnknownType {
        /// The operation.
        operation: Arc<str>,
        /// The result.
        result: String,
    },
    /// So many types of results were given, and it has not as many.
    #[error("`{operation}` does not have {count} results")]
    WrongResults {
        /// The operation.
        operation: Arc<str>,
        /// How many types were given.
        count: usize,
    },
    /// It does not have one result.
    #[error("`{operation}` has {count} results, not one")]
    NotOneResult {
        /// The operation.
        operation: Arc<str>,
        /// How many it has.
        count: usize,
    },
}
