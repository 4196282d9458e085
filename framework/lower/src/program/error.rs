//! Errors of the lowering.

use thiserror::Error;

use tilewright_assign::layouts::LayoutResolveError;
use tilewright_layout::LayoutError;
use tilewright_plan::mma::MmaError;
use tilewright_plan::movement::MovementError;
use tilewright_tile::{BuildError, FunctionBody, Op};

/// Max number of operations of a kernel. Each operation counts once, even if a loop executes it many times; a math
/// function counts as its expansion on the target. A larger kernel is rejected ([`LowerErrorReason::TooLarge`]); real
/// programs have some thousands.
pub const MAX_KERNEL_OPERATIONS: u64 = 1 << 18;

/// The error of an operation that cannot be lowered, with the reason.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("`{operation}`: {reason}")]
pub struct LowerError {
    /// Name of the operation, e.g. `tt.dot`; `tt.func @NAME` for a function as a whole.
    pub operation: String,
    /// The byte offset of the operation in the program's text; `None` if it is not known.
    pub at: Option<u32>,
    /// The reason why the operation cannot be lowered.
    pub reason: Box<LowerErrorReason>,
}

/// The reason why an operation cannot be lowered.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum LowerErrorReason {
    /// The operation is not supported, by the lowering or by the target.
    #[error("{0}")]
    Unsupported(String),
    /// The program is malformed: a verifier or an earlier pass should have rejected it.
    #[error("{0}")]
    Malformed(String),
    /// The kernel would exceed the max number of operations.
    #[error(
        "a thread has {operations} operations or more up to here; expected at most {MAX_KERNEL_OPERATIONS}: make the \
         tensors smaller, use more warps, or loop over parts of them"
    )]
    TooLarge {
        /// Number of operations that the kernel would have at least.
        operations: u64,
    },
    /// The type of a tensor names no layout.
    #[error(transparent)]
    NoLayout(#[from] LayoutResolveError),
    /// Two layouts cannot be composed.
    #[error(transparent)]
    Layout(#[from] LayoutError),
    /// No plan of data movement exists for the operation.
    #[error(transparent)]
    Movement(#[from] MovementError),
    /// No plan exists for the MMA.
    #[error(transparent)]
    Mma(#[from] MmaError),
    /// The tensor function (a tile program around one operation) cannot be built.
    #[error(transparent)]
    Build(#[from] BuildError),
}

impl LowerError {
    /// Makes the error of a function that cannot be lowered as a whole.
    #[must_use]
    pub fn for_function(name: &str, at: Option<u32>, reason: LowerErrorReason) -> Self {
        Self { operation: format!("tt.func @{name}"), at, reason: Box::new(reason) }
    }
}

/// The result of lowering one operation.
pub(super) type Lowered<T> = Result<T, LowerErrorReason>;

impl LowerErrorReason {
    /// Makes the error of the operation `op` with this reason.
    pub(super) fn at(self, body: &FunctionBody, op: Op) -> LowerError {
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
