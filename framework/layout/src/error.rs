//! Errors of operations on layouts.

use thiserror::Error;

use super::Dim;

/// A layout that cannot be built or an operation without a result.
///
/// Every variant is the caller's error: the operation is not defined for its arguments.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum LayoutError {
    /// A size is not a power of two.
    #[error("the size of {dim} is {size}, which is not a power of two")]
    NotPowerOfTwo {
        /// The dim of that size.
        dim: Dim,
        /// Size of the dim in elements.
        size: u64,
    },
    /// A stride is not a power of two.
    #[error("stride {stride} is not a power of two: x -> {stride} * x is not linear over F2")]
    StrideNotPowerOfTwo {
        /// The stride in elements.
        stride: u64,
    },
    /// The inputs or the outputs have more than 64 bits together.
    #[error("{bits} bits on one side of a layout: at most 64 fit")]
    TooManyBits {
        /// Number of bits that the inputs or the outputs would have together.
        bits: u32,
    },
    /// A dim occurs twice among the input dims, or among the out dims.
    #[error("dim {dim} is named twice on one side")]
    DuplicateDim {
        /// The repeated dim.
        dim: Dim,
    },
    /// A layout or space lacks a dim.
    #[error("there is no dim {dim} here")]
    NoSuchDim {
        /// The missing dim.
        dim: Dim,
    },
    /// A coordinate lies outside its dim.
    #[error("coordinate {value} does not fit {dim}, which has 2^{bits} positions")]
    CoordinateTooLarge {
        /// The dim of the coordinate.
        dim: Dim,
        /// The coordinate that is too large.
        value: u64,
        /// Log2 of the dim's size.
        bits: u32,
    },
    /// A dim has different sizes in the two operands.
    #[error("dim {dim} has 2^{left} positions on the left and 2^{right} on the right")]
    SizeMismatch {
        /// The dim whose sizes differ.
        dim: Dim,
        /// Log2 of the dim's size in the left operand.
        left: u32,
        /// Log2 of the dim's size in the right operand.
        right: u32,
    },
    /// The dims of the two operands differ.
    #[error("the dims differ: {left} against {right}")]
    DimsDiffer {
        /// Dims of the left operand.
        left: String,
        /// Dims of the right operand.
        right: String,
    },
    /// A basis has the wrong number of coordinates.
    #[error("basis {index} of {dim} has {found} coordinates, expected {expected}")]
    BasisLength {
        /// The input dim of the basis.
        dim: Dim,
        /// Index of the basis in the dim.
        index: usize,
        /// Number of coordinates of the basis.
        found: usize,
        /// Number of out dims.
        expected: usize,
    },
    /// A layout that must reach every element does not.
    #[error("the layout is not surjective: it reaches 2^{rank} of 2^{bits} elements")]
    NotSurjective {
        /// Log2 of the number of elements that the layout reaches.
        rank: u32,
        /// Log2 of the number of elements of the out space.
        bits: u32,
    },
    /// A layout that must be one-to-one and onto is not.
    #[error("the layout is not invertible: rank {rank}, {ins} bits in, {outs} bits out")]
    NotInvertible {
        /// Rank of the layout's matrix.
        rank: u32,
        /// Number of input bits.
        ins: u32,
        /// Number of out bits.
        outs: u32,
    },
    /// A linear system has no solution.
    #[error("input bit {bit} of {dim} of the first layout maps to an element that the second layout never reaches")]
    NoSolution {
        /// The input dim whose basis has no preimage.
        dim: Dim,
        /// Index in the dim of the basis that has no preimage.
        bit: u32,
    },
    /// The total sizes before and after a reshape differ.
    #[error("2^{before} positions cannot be reshaped to 2^{after}")]
    ReshapeSize {
        /// Number of bits before the reshape.
        before: u32,
        /// Number of bits after the reshape.
        after: u32,
    },
    /// A list of bases of a dim names a basis twice, or one that the dim lacks.
    #[error("basis {bit} of {dim} is selected twice or does not exist: it has {bits}, each can be selected once")]
    NotASelection {
        /// The dim whose bases are listed.
        dim: Dim,
        /// Index of the basis that is repeated or missing.
        bit: usize,
        /// Number of bases of the dim.
        bits: u32,
    },
    /// A mask selects input bits that the input space lacks.
    #[error("mask {mask:#b} of {dim} selects input bits beyond the existing {bits}")]
    MaskTooWide {
        /// The out dim that the mask belongs to.
        dim: Dim,
        /// The mask over packed input bits.
        mask: u64,
        /// Number of input bits.
        bits: u32,
    },
    /// An addition carries, so the result would not be affine over F2.
    #[error(
        "adding {by} along {dim} carries, since its low {bits} bits vary: the result is not an affine map over F2; \
         add only multiples of 2^{bits}"
    )]
    NotAffine {
        /// The out dim along which a number is added.
        dim: Dim,
        /// The number that is added.
        by: u64,
        /// Number of low bits that vary.
        bits: u32,
    },
    /// The image of zero under the first map is never reached by the second.
    #[error("the second map never reaches the image of zero under the first")]
    OffsetNotReached,
}
