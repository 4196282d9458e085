//! Errors of tensor maps and of the tensors that are bound to them.

use thiserror::Error;

use super::{ElementStride, MAX_RANK};

/// The reason why a tensor map or its tensor is invalid, or why an instruction cannot copy its boxes; the caller's
/// fault.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum TensorMapError {
    /// A map of elements of another width than memory has.
    #[error("elements of {bits} bits; expected 8, 16, 32 or 64")]
    ElementBits {
        /// The width.
        bits: u32,
    },
    /// A map of too few or too many axes.
    #[error("a box of {rank} axes; expected 1 to {MAX_RANK}")]
    Rank {
        /// The number of axes.
        rank: usize,
    },
    /// A box without elements.
    #[error("a box of {sizes:?} elements; expected one at least along each axis")]
    EmptyBox {
        /// The elements along each axis.
        sizes: Vec<u32>,
    },
    /// A box that is larger than shared memory can be.
    #[error("a box of {bytes} bytes; shared memory has fewer addresses")]
    BoxBytes {
        /// The bytes.
        bytes: u64,
    },
    /// A swizzle that does not mix lower address bits with higher ones.
    #[error("the swizzle has a shift of {shift}; expected 1 to 31")]
    SwizzleShift {
        /// The shift.
        shift: u32,
    },
    /// The instruction copies boxes of another rank.
    #[error("it copies boxes of {expected} axes; the map's have {rank}")]
    OtherRank {
        /// The number of axes of the instruction's boxes.
        expected: u32,
        /// The number of axes of the map.
        rank: usize,
    },
    /// A box is longer along an axis than the instruction copies.
    #[error("a box has {size} elements along an axis; it copies {most} at most")]
    BoxSize {
        /// The elements along the axis.
        size: u32,
        /// The most elements that the instruction copies.
        most: u32,
    },
    /// A row of a box is no multiple of what the instruction copies.
    #[error("rows of a box have {bytes} bytes; it copies multiples of {granularity}")]
    RowBytes {
        /// The bytes of a row.
        bytes: u64,
        /// The number of bytes that each row must be a multiple of.
        granularity: u32,
    },
    /// The instruction writes no boxes of this swizzle.
    #[error("no layout of its boxes has this swizzle; there are: {}", known.join(", "))]
    BoxLayout {
        /// The names of its box layouts.
        known: Vec<String>,
    },
    /// The swizzle needs rows of another length.
    #[error("rows of a box have {bytes} bytes; with {layout} they have {expected}")]
    LayoutRowBytes {
        /// The bytes of a row.
        bytes: u64,
        /// The name of the box layout.
        layout: String,
        /// The bytes of its rows.
        expected: u32,
    },
    /// A tensor with a size that is out of range.
    #[error("a tensor of sizes {sizes:?}; expected 1 to 2^32 along each axis")]
    TensorSizes {
        /// The size along each axis.
        sizes: Vec<u64>,
    },
    /// A tensor that ends beyond all addresses.
    #[error("a tensor of sizes {sizes:?} and strides {strides:?} exceeds the address space")]
    TensorEnd {
        /// The size along each axis.
        sizes: Vec<u64>,
        /// The stride along each axis, in bytes.
        strides: [u64; MAX_RANK],
    },
    /// Strides that are not those of the map's axes.
    #[error("strides {strides:?}; expected one for each of {rank} axes, of the first one element")]
    Strides {
        /// The strides.
        strides: Vec<ElementStride>,
        /// The number of axes of the map.
        rank: usize,
    },
    /// Sizes that are not those of the map's axes.
    #[error("sizes {sizes:?}; expected none, or one for each of {rank} axes")]
    Sizes {
        /// The sizes.
        sizes: Vec<ElementStride>,
        /// The number of axes of the map.
        rank: usize,
    },
    /// The parameter that should point to the tensor does not.
    #[error("parameter {parameter} is not a pointer to global memory")]
    Pointer {
        /// Index of the parameter.
        parameter: u32,
    },
    /// The parameter that should be a stride or a size is no number.
    #[error("parameter {parameter} is not a number")]
    StrideParameter {
        /// Index of the parameter.
        parameter: u32,
    },
    /// The launch has no argument for a stride or a size.
    #[error("a stride or a size of the tensor map has no value")]
    MissingStride,
    /// Strides that do not ascend, or are no multiples of each other.
    #[error("a tensor of strides {strides:?}: each must be a multiple of the one before")]
    StrideOrder {
        /// The strides, in elements.
        strides: Vec<u64>,
    },
    /// A buffer that ends within a step along the last axis.
    #[error("a buffer of {bytes} bytes; expected a multiple of the last axis's stride, {step}")]
    BufferBytes {
        /// The bytes of the buffer.
        bytes: u64,
        /// The bytes of a step.
        step: u64,
    },
    /// A tensor of more axes than a map has.
    #[error("a tensor of {axes} axes")]
    TensorRank {
        /// The number of axes.
        axes: usize,
    },
}
