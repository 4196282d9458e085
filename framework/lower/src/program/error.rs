//! Why a program cannot be lowered.

use thiserror::Error;

use tilewright_assign::layouts::NoLayout;
use tilewright_layout::LayoutError;
use tilewright_plan::contract::ContractError;
use tilewright_plan::movement::MovementError;
use tilewright_tile::{Body, BuildError, Op};

/// Operations of a kernel, each counted once however often it runs, and functions of numbers as the arithmetic that stands for
/// them on this target. Real programs have some thousands.
pub const MOST_OPERATIONS: u64 = 1 << 18;

/// An operation that cannot be lowered, and why.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("`{operation}`: {reason}")]
pub struct LowerError {
    /// The operation's name.
    pub operation: String,
    /// The byte of the text that it was read from.
    pub at: Option<u32>,
    /// Why.
    pub reason: Box<Reason>,
}

/// Why an operation cannot be lowered.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Reason {
    /// Nothing here, or on this target, does it; the sentence says what.
    #[error("{0}")]
    Unsupported(String),
    /// The program is not as it should be before it is lowered: a verifier or an earlier stage should have said so.
    #[error("{0}")]
    Malformed(String),
    /// The kernel would have more operations than one may.
    #[error(
        "with it a thread has {operations} operations or more; expected at most {MOST_OPERATIONS}: make the tensors smaller, \
         give the block more warps, or let a loop go over parts of them"
    )]
    TooLarge {
        /// So many.
        operations: u64,
    },
    /// A type gives no layout.
    #[error(transparent)]
    NoLayout(#[from] NoLayout),
    /// Layouts that do not go together.
    #[error(transparent)]
    Layout(#[from] LayoutError),
    /// Data cannot be moved.
    #[error(transparent)]
    Movement(#[from] MovementError),
    /// Matrices cannot be multiplied.
    #[error(transparent)]
    Contract(#[from] ContractError),
    /// A function around one operation cannot be built.
    #[error(transparent)]
    Build(#[from] BuildError),
}

impl LowerError {
    /// A function that cannot be lowered as a whole.
    #[must_use]
    pub fn of_function(name: &str, at: Option<u32>, reason: Reason) -> Self {
        Self { operation: format!("tt.func @{name}"), at, reason: Box::new(reason) }
    }
}

/// What lowering one operation gives.
pub(super) type Lowered<T> = Result<T, Reason>;

impl Reason {
    /// The reason at its operation.
    pub(super) fn at(self, body: &Body, op: Op) -> LowerError {
        let operation = body.op(op);
        LowerError { operation: operation.name().to_owned(), at: operation.location.at, reason: Box::new(self) }
    }

    pub(super) fn unsupported(message: impl Into<String>) -> Self {
        Self::Unsupported(message.into())
    }

    pub(super) fn malformed(message: impl Into<String>) -> Self {
        Self::Malformed(message.into())
    }
}
