//! Why layouts are not assigned.

use thiserror::Error;

use super::layouts::NoLayout;
use tilewright_layout::LayoutError;
use tilewright_plan::contract::ContractError;
use tilewright_plan::movement::MovementError;

/// Why a program gets no layouts.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum EngineError {
    /// The program is not one that the engine takes; whoever made it must transform it first.
    #[error("{operation}: {message}")]
    Program {
        /// The operation.
        operation: String,
        /// What is wrong, what to do.
        message: String,
    },
    /// The target cannot carry out an operation.
    #[error("{operation}: {source}")]
    Product {
        /// The operation.
        operation: String,
        /// Why not.
        source: ContractError,
    },
    /// A type names a layout for another block than the program's.
    #[error("`{ty}` lies in {warps} warps of {lanes} lanes, and the program has {} of {}", expected[1], expected[0])]
    Block {
        /// The type.
        ty: String,
        /// Lanes of a warp of the layout.
        lanes: u64,
        /// Its warps.
        warps: u64,
        /// Lanes and warps of the program.
        expected: [u32; 2],
    },
    /// A type names a layout that is none.
    #[error(transparent)]
    Type(#[from] NoLayout),
    /// The block is none that the target has.
    #[error(transparent)]
    Movement(#[from] MovementError),
    /// Layouts do not fit each other.
    #[error(transparent)]
    Layout(#[from] LayoutError),
}
