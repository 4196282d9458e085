//! Errors of shared-memory layout synthesis.

use std::fmt;

use thiserror::Error;

use crate::movement::MovementError;
use tilewright_layout::LayoutError;
use tilewright_layout::cute::CuteError;

/// The layout that an access of a tensor requires if it is executed by one of its alternatives (an instruction, or
/// plain accesses).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AccessConstraint {
    /// Name of the access, e.g. an operation and its location.
    pub access: String,
    /// Name of the alternative: an instruction, or plain accesses with their width.
    pub alternative: String,
    /// The required layout as text, with names for the strides that it leaves free.
    pub term: String,
}

impl fmt::Display for AccessConstraint {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "`{}` by {} needs {}", self.access, self.alternative, self.term)
    }
}

/// The reason why no layout serves all accesses of a tensor.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum MemorySynthesisError {
    /// Two accesses require different elements to be adjacent in memory; an error of the program.
    #[error(
        "no layout of shared memory serves both: {first}; {second}; they disagree on bit {bit} of the offset ({wants} against {has}): load or store one of them by narrower accesses, or rearrange it first"
    )]
    Disagree {
        /// The first access, with the layout that it requires.
        first: Box<AccessConstraint>,
        /// The second access, with the layout that it requires.
        second: Box<AccessConstraint>,
        /// The bit of the offset, in elements, for which the accesses require different elements.
        bit: usize,
        /// The modes (CuTe) that the first access requires at this bit.
        wants: String,
        /// The modes (CuTe) that the second access requires at this bit.
        has: String,
    },
    /// Any two accesses allow a common layout, but all of them together allow none.
    #[error(
        "no layout of shared memory serves all of {accesses}, though any two of them agree: access one by narrower accesses"
    )]
    DisagreeTogether {
        /// Names of all accesses of the tensor, separated by commas.
        accesses: String,
    },
    /// None of the alternatives of an access is possible.
    #[error("`{access}` has no alternative: {reasons}")]
    NoAlternative {
        /// Name of the access, e.g. an operation and its location.
        access: String,
        /// For each alternative, the reason why it is impossible.
        reasons: String,
    },
    /// The size of an axis is not a power of two, which layouts require because they map bits of coordinates.
    #[error("dim{axis} has {size} elements: shared memory is laid out bit by bit, so pad the tile to {} elements", size.next_power_of_two())]
    Shape {
        /// Index of the axis, from 0 (`dim0`).
        axis: usize,
        /// Size of the axis in elements.
        size: u64,
    },
    /// Elements have an unsupported number of bits: not a power of two, or more than 128.
    #[error("elements of {0} bits: shared memory can have elements of 1, 2, 4, 8, 16, 32, 64 and 128 bits")]
    Bits(u32),
    /// The layout that the program states explicitly is not a valid memory layout.
    #[error("the explicit layout {layout}: {reason}")]
    Given {
        /// The explicit layout, in CuTe's notation or as a list of bases.
        layout: String,
        /// The reason why the layout is not valid.
        reason: String,
    },
    /// The layout of an access does not fit the shape of the tensor.
    #[error("`{access}`: {reason}")]
    Access {
        /// Name of the access, e.g. an operation and its location.
        access: String,
        /// The reason why the layout does not fit, as text.
        reason: String,
    },
    /// No plan of data movement exists for an access.
    #[error(transparent)]
    Movement(#[from] MovementError),
    /// Two linear layouts that cannot be composed.
    #[error(transparent)]
    Layout(#[from] LayoutError),
    /// Two CuTe layouts that cannot be composed.
    #[error(transparent)]
    Cute(#[from] CuteError),
}
