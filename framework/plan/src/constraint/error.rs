//! Errors of layout constraints.

use thiserror::Error;

use tilewright_layout::cute::CuteError;
use tilewright_layout::{Dim, LayoutError};

/// The reason why a constraint does not hold, or cannot be solved.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum LayoutConstraintError {
    /// Two layouts map a position to different elements.
    #[error("{constraint}: {location} leads to {has} by {first}, and to {wants} by {second}")]
    Differ {
        /// Name of the violated constraint, e.g. `copy` or `mma`.
        constraint: &'static str,
        /// The position at which the layouts differ: a register, lane or warp, or a bit of M, N or K.
        location: Box<str>,
        /// Name of the first layout in the message, e.g. `the layout`.
        first: Box<str>,
        /// Name of the second layout in the message, e.g. `the instruction`.
        second: Box<str>,
        /// Element at the position by the first layout, as text of its coordinates.
        has: Box<str>,
        /// Element at the position by the second layout, as text of its coordinates.
        wants: Box<str>,
    },
    /// Two layouts differ in the size of a dim, so they are for different hardware or different tensors.
    #[error("{constraint}: {first} has 2^{left} positions along {dim}, {second} 2^{right}")]
    Sizes {
        /// Name of the violated constraint, e.g. `copy` or `mma`.
        constraint: &'static str,
        /// The dim whose sizes differ.
        dim: Dim,
        /// Name of the first layout in the message, e.g. `the layout`.
        first: Box<str>,
        /// Name of the second layout in the message, e.g. `the instruction`.
        second: Box<str>,
        /// Log2 of the dim's size in the first layout.
        left: u32,
        /// Log2 of the dim's size in the second layout.
        right: u32,
    },
    /// An instruction lacks a property that the constraint needs.
    #[error("instruction {instruction}: {reason}")]
    Instruction {
        /// The name of the instruction.
        instruction: String,
        /// The missing property, as a sentence.
        reason: String,
    },
    /// Two linear layouts that cannot be composed.
    #[error(transparent)]
    Layout(#[from] LayoutError),
    /// Two CuTe layouts that cannot be composed.
    #[error(transparent)]
    Cute(#[from] CuteError),
}
