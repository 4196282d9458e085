//! Errors of layout assignment.

use thiserror::Error;

use super::layouts::LayoutResolveError;
use tilewright_layout::LayoutError;
use tilewright_plan::mma::MmaError;
use tilewright_plan::movement::MovementError;

/// The reason why layouts could not be assigned to a program.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum EngineError {
    /// The program is not in the form that layout assignment takes; its producer must transform it first.
    #[error("{operation}: {message}")]
    Program {
        /// The name of the operation.
        operation: String,
        /// The description of the problem and the remedy.
        message: String,
    },
    /// The target has no instruction or plan for a dot.
    #[error("{operation}: {source}")]
    Mma {
        /// The name of the operation.
        operation: String,
        /// The reason why there is no plan.
        source: MmaError,
    },
    /// A type names a layout for another number of warps or lanes than the program has.
    #[error("the layout of `{ty}` has {warps} warps of {lanes} lanes, the program {} of {}", expected[1], expected[0])]
    Block {
        /// The type that names the layout.
        ty: String,
        /// Number of lanes of a warp in the layout.
        lanes: u64,
        /// Number of warps in the layout.
        warps: u64,
        /// Number of lanes and of warps that the program has.
        expected: [u32; 2],
    },
    /// The layout that a type names does not resolve.
    #[error(transparent)]
    Type(#[from] LayoutResolveError),
    /// The target does not support this block size, or a plan of data movement failed.
    #[error(transparent)]
    Movement(#[from] MovementError),
    /// Two layouts cannot be combined.
    #[error(transparent)]
    Layout(#[from] LayoutError),
}
