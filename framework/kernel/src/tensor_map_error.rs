//! Errors of tensor maps and of the tensors that are bound to them.

use thiserror::Error;

use super::{LaunchTimeElementCount, MAX_TENSOR_MAP_RANK};

/// The reason why a tensor map or its tensor is invalid, or why an instruction cannot copy its boxes; an error of the
/// caller.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum TensorMapError {
    /// The element width of a map is not 8, 16, 32 or 64 bits.
    #[error("elements of {bits} bits; expected 8, 16, 32 or 64")]
    ElementBits {
        /// Width of an element in bits.
        bits: u32,
    },
    /// The element type of a map is unknown, or has another width than the map's elements.
    #[error("elements of type `{name}`; expected a known type of {bits} bits")]
    ElementType {
        /// Name of the element type.
        name: String,
        /// Width of an element of the map in bits.
        bits: u32,
    },
    /// The instruction computes with elements, and not of the map's type.
    #[error("it combines elements of {expected:?}; the map's are {name:?}")]
    OtherElement {
        /// Name of the map's element type, if it has one.
        name: Option<String>,
        /// Names of the element types that the instruction combines.
        expected: Vec<String>,
    },
    /// The number of axes of a map is 0 or above [`MAX_TENSOR_MAP_RANK`].
    #[error("a box of {rank} axes; expected 1 to {MAX_TENSOR_MAP_RANK}")]
    Rank {
        /// Number of axes of the map.
        rank: usize,
    },
    /// A box has no elements along some axis.
    #[error("a box of {sizes:?} elements; expected one at least along each axis")]
    EmptyBox {
        /// The number of elements of the box along each axis.
        sizes: Vec<u32>,
    },
    /// A box has 2^32 bytes or more, the limit of shared-memory addresses.
    #[error("a box of {bytes} bytes; shared memory has fewer addresses")]
    BoxBytes {
        /// Size of the box in bytes.
        bytes: u64,
    },
    /// The shift of the XOR swizzle is not from 1 to 31, so no higher address bits change lower ones.
    #[error("the swizzle has a shift of {shift}; expected 1 to 31")]
    SwizzleShift {
        /// Shift of the XOR swizzle, in address bits.
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
        /// The number of elements of the box along the axis.
        size: u32,
        /// The largest number of elements along an axis that the instruction copies.
        most: u32,
    },
    /// The bytes of a row of a box are no multiple of the instruction's granularity.
    #[error("rows of a box have {bytes} bytes; it copies multiples of {granularity}")]
    RowBytes {
        /// Size of a row of a box in bytes.
        bytes: u64,
        /// The size of a row must be a multiple of this number of bytes.
        granularity: u32,
    },
    /// The instruction supports no box layout with the XOR swizzle of the map.
    #[error("no layout of its boxes has this swizzle; there are: {}", known.join(", "))]
    BoxLayout {
        /// The names of the box layouts that the instruction supports.
        known: Vec<String>,
    },
    /// The box layout with this XOR swizzle needs rows of another size.
    #[error("rows of a box have {bytes} bytes; with {layout} they have {expected}")]
    LayoutRowBytes {
        /// Size of a row of a box in bytes.
        bytes: u64,
        /// The name of the box layout with the map's XOR swizzle.
        layout: String,
        /// The size of a row in bytes that this box layout needs.
        expected: u32,
    },
    /// The size of a tensor along some axis is not from 1 to 2^32.
    #[error("a tensor of sizes {sizes:?}; expected 1 to 2^32 along each axis")]
    TensorSizes {
        /// Size of the tensor along each axis, in elements.
        sizes: Vec<u64>,
    },
    /// The byte offset at which a tensor ends overflows 64 bits.
    #[error("a tensor of sizes {sizes:?} and strides {strides:?} exceeds the address space")]
    TensorEnd {
        /// Size of the tensor along each axis, in elements.
        sizes: Vec<u64>,
        /// Stride of the tensor along each axis, in bytes.
        strides: [u64; MAX_TENSOR_MAP_RANK],
    },
    /// The derived map has not one stride for each axis of the map, or its first stride is not 1.
    #[error("strides {strides:?}; expected one for each of {rank} axes, of the first one element")]
    Strides {
        /// The strides that the derived map states, in elements.
        strides: Vec<LaunchTimeElementCount>,
        /// The number of axes of the map.
        rank: usize,
    },
    /// The derived map states sizes, but not one for each axis of the map.
    #[error("sizes {sizes:?}; expected none, or one for each of {rank} axes")]
    Sizes {
        /// The sizes that the derived map states, in elements.
        sizes: Vec<LaunchTimeElementCount>,
        /// The number of axes of the map.
        rank: usize,
    },
    /// The parameter that should point to the tensor is no pointer to global memory.
    #[error("parameter {parameter} is not a pointer to global memory")]
    Pointer {
        /// Index of the kernel parameter.
        parameter: u32,
    },
    /// The parameter that should be a stride or a size is no number.
    #[error("parameter {parameter} is not a number")]
    StrideParameter {
        /// Index of the kernel parameter.
        parameter: u32,
    },
    /// The launch has no argument for a stride or a size.
    #[error("a stride or a size of the tensor map has no value")]
    MissingStride,
    /// A stride is no multiple of the stride before it, or is smaller.
    #[error("a tensor of strides {strides:?}: each must be a multiple of the one before")]
    StrideOrder {
        /// The strides, in elements.
        strides: Vec<u64>,
    },
    /// The size of the buffer is zero or no multiple of the last axis's stride.
    #[error("a buffer of {bytes} bytes; expected a multiple of the last axis's stride, {step}")]
    BufferBytes {
        /// Size of the buffer in bytes.
        bytes: u64,
        /// Stride of the last axis in bytes.
        step: u64,
    },
    /// A tensor of more axes than a map has.
    #[error("a tensor of {axes} axes")]
    TensorRank {
        /// Number of axes of the tensor.
        axes: usize,
    },
}
