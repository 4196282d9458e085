//! Errors for operations that a target does not have.

use tilewright_kernel::{Cast, Element, MathFunction, Queue, Type};
use tilewright_plugin::CompileError;

/// Returns the error for a cast for which the target has no instruction.
#[must_use]
pub fn unsupported_cast_error(cast: Cast, from: Type, to: Type) -> CompileError {
    CompileError::Unsupported(format!("no instruction for the cast `{}` from {from} to {to}", cast.name()))
}

/// Returns the error for a math function for which the target has no instruction.
#[must_use]
pub fn unsupported_math_function_error(function: MathFunction, element: Element) -> CompileError {
    let (function, element) = (function.name(), element.name());
    CompileError::Unsupported(format!("`{function}` of {element} is not an operation of this target: expand it before"))
}

/// Returns the error for an operation that needs clusters on a target without clusters.
#[must_use]
pub fn no_clusters_error() -> CompileError {
    CompileError::Unsupported("there are no clusters of blocks on this target".to_owned())
}

/// Returns the error for an mbarrier operation on a target without mbarriers.
#[must_use]
pub fn no_mbarriers_error() -> CompileError {
    CompileError::Unsupported("there are no mbarriers that count bytes on this target".to_owned())
}

/// Returns the error for a named barrier on a target without named barriers.
pub(super) fn no_group_barriers() -> CompileError {
    CompileError::Unsupported(
        "there are no named barriers on this target: a barrier is for all warps of a block".to_owned(),
    )
}

/// Returns the error for a tensor-memory operation on a target without tensor memory.
#[must_use]
pub fn no_tensor_memory_error() -> CompileError {
    CompileError::Unsupported("there is no tensor memory on this target".to_owned())
}

/// Returns the error for a queue on which no instruction of this target completes.
#[must_use]
pub fn unsupported_completion_queue_error(queue: Queue) -> CompileError {
    CompileError::Unsupported(format!("no instruction completes on the queue `{}` on this target", queue.name()))
}
