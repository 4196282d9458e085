//! Errors of planners of data movement.

use thiserror::Error;

use tilewright_layout::{Dim, LayoutError, MAX_TENSOR_BITS};

/// Log2 of the max number of registers of a lane for which planners, which enumerate registers, make plans. No target
/// has so many.
pub(super) const MOST_REGISTER_BITS: u32 = 16;

/// The reason why there is no plan. All but [`MovementError::Impossible`] are errors of the caller.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum MovementError {
    /// An operation of the layout algebra fails, e.g. because the shapes of the tensors differ.
    #[error(transparent)]
    Layout(#[from] LayoutError),
    /// A layout has an input dim that no distributed layout has.
    #[error("{side} layout has the dim {dim}; a distributed layout has register, lane, warp and block")]
    NotDistributed {
        /// The side of the conversion that has the layout: `source` or `destination`.
        side: &'static str,
        /// The dim that is not allowed.
        dim: Dim,
    },
    /// The layouts have different numbers of lanes, warps or blocks.
    #[error("the source has 2^{src} positions along {dim}, the destination 2^{dst}")]
    Hardware {
        /// The dim whose sizes differ: lane, warp or block.
        dim: Dim,
        /// Log2 of the dim's size in the source.
        src: u32,
        /// Log2 of the dim's size in the destination.
        dst: u32,
    },
    /// The target does not support this warp size.
    #[error("target {target} has no warps of {lanes} lanes; it has {choices:?}")]
    Lanes {
        /// The name of the target.
        target: String,
        /// Number of lanes of a warp in the layouts.
        lanes: u64,
        /// The numbers of lanes of a warp that the target offers.
        choices: Vec<u32>,
    },
    /// The block has more threads than the target supports.
    #[error("target {target} has blocks of at most {limit} lanes, the layouts need {lanes}")]
    Block {
        /// The name of the target.
        target: String,
        /// Number of threads of a block in the layouts.
        lanes: u64,
        /// Max number of threads of a block on the target.
        limit: u32,
    },
    /// A lane would hold more elements than plans support.
    #[error("a lane has 2^{bits} elements of the {side}; plans support at most 2^{MOST_REGISTER_BITS}")]
    Registers {
        /// The layout with too many registers: `source`, `destination` or `tensor`.
        side: &'static str,
        /// Log2 of the number of elements that a lane would hold.
        bits: u32,
    },
    /// The tensor is too large for planners, which enumerate its elements.
    #[error(
        "a tensor of 2^{bits} elements; plans support tensors of at most 2^{MAX_TENSOR_BITS}: pass the shape of the \
         tile of one block"
    )]
    Size {
        /// Log2 of the number of elements of the tensor.
        bits: u32,
    },
    /// No element type has this width, in bits.
    #[error("elements of {0} bits cannot be moved: 8, 16, 32 and 64 can")]
    ElementBits(u32),
    /// A basis (the image of one input bit) moves along the axis of a reduction and along another axis at once.
    #[error(
        "basis {bit} of {dim} moves along {axis} and along other axes at once: convert to a layout whose bases move along one axis each"
    )]
    MixedAxis {
        /// The input dim of the basis: register, lane, warp or block.
        dim: Dim,
        /// Index of the input bit within this dim.
        bit: u32,
        /// The axis of the reduction.
        axis: Dim,
    },
    /// The memory of a block does not contain the elements of the block's registers.
    #[error("the memory layout does not have the registers' elements in the same block: {reason}")]
    Memory {
        /// The error of the layout algebra as text.
        reason: String,
    },
    /// The tuple of tensors to reduce or scan is empty.
    #[error("there are no tensors to reduce: pass the width of at least one")]
    NoTensors,
    /// Every candidate for the plan is rejected.
    #[error("no candidate works: {reasons}")]
    Impossible {
        /// For each candidate, the reason why it is rejected.
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
