//! Why no plan of data movement is made.

use thiserror::Error;

use tilewright_layout::{Dim, LayoutError, MOST_TENSOR_BITS};

/// Log2 of the registers of a lane in plans, which list them one by one. More than any target has.
pub(super) const MOST_REGISTER_BITS: u32 = 16;

/// Why no plan is made. Except for [`MovementError::Impossible`] always the caller's fault.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum MovementError {
    /// The algebra says no.
    #[error(transparent)]
    Layout(#[from] LayoutError),
    /// A layout has a dim that no distributed layout has.
    #[error("{side} layout has the dim {dim}; a distributed layout has register, lane, warp and block")]
    NotDistributed {
        /// `source` or `destination`.
        side: &'static str,
        /// The dim.
        dim: Dim,
    },
    /// The two layouts are not for the same hardware.
    #[error("the source has 2^{src} positions along {dim}, the destination 2^{dst}")]
    Hardware {
        /// The dim.
        dim: Dim,
        /// Log2 of its size in the source.
        src: u32,
        /// Log2 of its size in the destination.
        dst: u32,
    },
    /// The target has no warps of this size.
    #[error("target {target} has no warps of {lanes} lanes; it has {choices:?}")]
    Lanes {
        /// The target.
        target: String,
        /// Lanes of the layouts.
        lanes: u64,
        /// Lanes that the target offers.
        choices: Vec<u32>,
    },
    /// The target has no blocks of this size.
    #[error("target {target} has blocks of at most {limit} lanes, the layouts want {lanes}")]
    Block {
        /// The target.
        target: String,
        /// Lanes of a block in the layouts.
        lanes: u64,
        /// What the target allows.
        limit: u32,
    },
    /// A lane would hold more than any does.
    #[error("a lane holds 2^{bits} elements of the {side}; plans are made for at most 2^{MOST_REGISTER_BITS}")]
    Registers {
        /// `source`, `destination` or `tensor`.
        side: &'static str,
        /// Log2 of the elements.
        bits: u32,
    },
    /// Nothing plans tensors of this size element by element.
    #[error(
        "a tensor of 2^{bits} elements; plans are made for tensors of at most 2^{MOST_TENSOR_BITS}: give the shape of \
         one tile, which a block holds at once"
    )]
    Size {
        /// Log2 of the elements.
        bits: u32,
    },
    /// No element has this width.
    #[error("elements of {0} bits cannot be moved: 8, 16, 32 and 64 can")]
    ElementBits(u32),
    /// A basis moves along the axis of a reduction and along others at once.
    #[error(
        "basis {bit} of {dim} moves along {axis} and along other axes at once: convert to a layout whose bases move along one axis each"
    )]
    MixedAxis {
        /// The in dim.
        dim: Dim,
        /// Which basis of it.
        bit: u32,
        /// The axis.
        axis: Dim,
    },
    /// The memory does not hold what the registers want, in the same block.
    #[error("the memory layout does not hold the registers' elements in their own block: {reason}")]
    Memory {
        /// What the algebra says.
        reason: String,
    },
    /// A tuple without tensors.
    #[error("there are no tensors to reduce: give the width of at least one")]
    NoTensors,
    /// No way leads from one layout to the other.
    #[error("no way to convert: {reasons}")]
    Impossible {
        /// Why each way is closed.
        reasons: String,
    },
}

impl MovementError {
    pub(super) fn impossible(reasons: impl Into<String>) -> Self {
        Self::Impossible { reasons: reasons.into() }
    }

    pub(crate) fn memory(reason: impl ToString) -> Self {
        Self::Memory { reason: reason.to_string() }
    }
}
