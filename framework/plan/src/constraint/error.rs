//! Why a constraint does not hold.

use thiserror::Error;

use tilewright_layout::cute::CuteError;
use tilewright_layout::{Dim, LayoutError};

/// Why a constraint does not hold, or cannot be solved.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Unsatisfied {
    /// Two layouts lead to different elements.
    #[error("{constraint}: {place} leads to {has} by {first}, and to {wants} by {second}")]
    Differ {
        /// The constraint.
        constraint: &'static str,
        /// The coordinate at which they differ.
        place: Box<str>,
        /// One of the layouts.
        first: Box<str>,
        /// The other.
        second: Box<str>,
        /// Where the first leads.
        has: Box<str>,
        /// Where the second leads.
        wants: Box<str>,
    },
    /// Layouts are of different hardware or tensors.
    #[error("{constraint}: {first} has 2^{left} positions along {dim}, {second} 2^{right}")]
    Sizes {
        /// The constraint.
        constraint: &'static str,
        /// The dim.
        dim: Dim,
        /// One of the layouts.
        first: Box<str>,
        /// The other.
        second: Box<str>,
        /// Log2 of the first's size.
        left: u32,
        /// Log2 of the second's size.
        right: u32,
    },
    /// An instruction does not say what the constraint needs.
    #[error("instruction {instruction}: {reason}")]
    Instruction {
        /// The row.
        instruction: String,
        /// What is missing.
        reason: String,
    },
    /// The algebra says no.
    #[error(transparent)]
    Layout(#[from] LayoutError),
    /// CuTe's algebra says no.
    #[error(transparent)]
    Cute(#[from] CuteError),
}
