//! Why no layout of shared memory serves all accesses.

use std::fmt;

use thiserror::Error;

use crate::movement::MovementError;
use tilewright_layout::LayoutError;
use tilewright_layout::cute::CuteError;

/// What one access asks by one way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AccessConstraint {
    /// The access.
    pub access: String,
    /// The way.
    pub way: String,
    /// The layout with free strides.
    pub term: String,
}

impl fmt::Display for AccessConstraint {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "`{}` by {} needs {}", self.access, self.way, self.term)
    }
}

/// Why no layout serves all accesses of a tensor.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum MemorySynthesisError {
    /// Two accesses want different elements together; the program's author's to mend.
    #[error(
        "no layout of shared memory serves both: {first}; {second}; they disagree on bit {bit} of the offset ({wants} against {has}): load or store one of them by narrower accesses, or rearrange it first"
    )]
    Disagree {
        /// One access.
        first: Box<AccessConstraint>,
        /// The other.
        second: Box<AccessConstraint>,
        /// The bit of the offset, in elements, for which they want different elements.
        bit: usize,
        /// The modes that the first wants there.
        wants: String,
        /// The modes that the second wants there.
        has: String,
    },
    /// Any two accesses agree, all together do not.
    #[error(
        "no layout of shared memory serves all of {accesses}, though any two of them agree: access one by narrower accesses"
    )]
    DisagreeTogether {
        /// Their names.
        accesses: String,
    },
    /// An access goes by no way at all.
    #[error("`{access}` goes by no way: {reasons}")]
    NoWay {
        /// The access.
        access: String,
        /// For each way why not.
        reasons: String,
    },
    /// Terms are maps of bits: a size is no power of two.
    #[error("dim{axis} has {size} elements: shared memory is laid out bit by bit, so pad the tile to {} elements", size.next_power_of_two())]
    Shape {
        /// The axis.
        axis: usize,
        /// Its size.
        size: u64,
    },
    /// Elements of no known width.
    #[error("elements of {0} bits: 1, 2, 4, 8, 16, 32, 64 and 128 bits can lie in shared memory")]
    Bits(u32),
    /// The layout that a program gives cannot be that of a memory.
    #[error("the layout {layout} that is given: {reason}")]
    Given {
        /// The layout.
        layout: String,
        /// What is wrong.
        reason: String,
    },
    /// An access is not of the tensor.
    #[error("`{access}`: {reason}")]
    Access {
        /// The access.
        access: String,
        /// What is wrong.
        reason: String,
    },
    /// Plans of accesses refuse.
    #[error(transparent)]
    Movement(#[from] MovementError),
    /// The algebra says no.
    #[error(transparent)]
    Layout(#[from] LayoutError),
    /// CuTe's algebra says no.
    #[error(transparent)]
    Cute(#[from] CuteError),
}
