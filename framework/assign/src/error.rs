//! Errors of layout assignment.

use thiserror::Error;

use super::layouts::LayoutResolveError;
use tilewright_layout::LayoutError;
use tilewright_plan::mma::MmaError;
use tilewright_plan::movement::MovementError;

/// The reason why layouts could not be assigned to a program.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum AssignmentError {
    /// The program is not in the form that layout assignment takes; its producer must transform it first.
    #[error("{operation}: {message}")]
    Program {
        /// Name of the operation that cannot be handled, e.g. `tt.dot`; `module` if it is the module itself.
        operation: String,
        /// The description of the problem and the remedy.
        message: String,
    },
    /// The target has no instruction or plan for a dot.
    #[error("{operation}: {source}")]
    Mma {
        /// Name of the dot operation, e.g. `tt.dot`.
        operation: String,
        /// The reason why there is no plan.
        source: MmaError,
    },
    /// A type names a layout for another number of warps or lanes than the program has.
    #[error("the layout of `{ty}` has {warps} warps of {lanes} lanes, the program {} of {}", expected[1], expected[0])]
    Block {
        /// The type that names the layout.
        ty: String,
        /// Number of lanes of a warp, according to the layout.
        lanes: u64,
        /// Number of warps of a block, according to the layout.
        warps: u64,
        /// Number of lanes of a warp, then number of warps of a block, of the program.
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
