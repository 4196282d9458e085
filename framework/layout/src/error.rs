//! What can be wrong with a question about layouts.

use thiserror::Error;

use super::Dim;

/// Why a layout cannot be built or an operation has no result.
///
/// All variants are the caller's: the operation is not defined on what was given.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum LayoutError {
    /// A size is not a power of two.
    #[error("the size of {dim} is {size}, which is no power of two")]
    NotPowerOfTwo {
        /// The dim.
        dim: Dim,
        /// Its size in elements.
        size: u64,
    },
    /// A stride is not a power of two.
    #[error("stride {stride} is no power of two: x -> {stride} * x is not linear over F2")]
    StrideNotPowerOfTwo {
        /// The stride in elements.
        stride: u64,
    },
    /// One side has more bits than a machine word.
    #[error("{bits} bits on one side of a layout: at most 64 fit")]
    TooManyBits {
        /// How many it would have.
        bits: u32,
    },
    /// A dim occurs twice on one side.
    #[error("dim {dim} is named twice on one side")]
    DuplicateDim {
        /// The dim.
        dim: Dim,
    },
    /// A dim is not there.
    #[error("there is no dim {dim} here")]
    NoSuchDim {
        /// The dim.
        dim: Dim,
    },
    /// A coordinate lies outside its dim.
    #[error("coordinate {value} does not fit {dim}, which has 2^{bits} positions")]
    CoordinateTooLarge {
        /// The dim.
        dim: Dim,
        /// The coordinate.
        value: u64,
        /// Log2 of the size of the dim.
        bits: u32,
    },
    /// Two sides should have agreeing sizes for a dim.
    #[error("dim {dim} has 2^{left} positions on the left and 2^{right} on the right")]
    SizeMismatch {
        /// The dim.
        dim: Dim,
        /// Log2 of its size on the left.
        left: u32,
        /// Log2 of its size on the right.
        right: u32,
    },
    /// Two sides should have the same dims.
    #[error("the dims differ: {left} against {right}")]
    DimsDiffer {
        /// Dims on the left.
        left: String,
        /// Dims on the right.
        right: String,
    },
    /// A basis has the wrong number of coordinates.
    #[error("basis {index} of {dim} has {found} coordinates, expected {expected}")]
    BasisLength {
        /// The input dim.
        dim: Dim,
        /// Which of its bases.
        index: usize,
        /// How many coordinates it has.
        found: usize,
        /// How many out dims there are.
        expected: usize,
    },
    /// A layout that must reach every element does not.
    #[error("the layout is not surjective: it reaches 2^{rank} of 2^{bits} elements")]
    NotSurjective {
        /// Log2 of the number of elements it reaches.
        rank: u32,
        /// Log2 of the number of elements there are.
        bits: u32,
    },
    /// A layout that must be one-to-one and onto is not.
    #[error("the layout is not invertible: rank {rank}, {ins} bits in, {outs} bits out")]
    NotInvertible {
        /// Rank of the matrix.
        rank: u32,
        /// Bits in.
        ins: u32,
        /// Bits out.
        outs: u32,
    },
    /// A linear system has no solution.
    #[error("input bit {bit} of {dim} of the first layout maps to an element that the second layout never reaches")]
    NoSolution {
        /// The input dim whose basis has no preimage.
        dim: Dim,
        /// Which bit of it.
        bit: u32,
    },
    /// The total sizes before and after a reshape differ.
    #[error("2^{before} positions cannot be reshaped to 2^{after}")]
    ReshapeSize {
        /// Bits before.
        before: u32,
        /// Bits after.
        after: u32,
    },
    /// Bases that are to be taken of a dim are not a selection of those that it has.
    #[error("basis {bit} of {dim} is named twice or is not there: it has {bits}, each can be taken once")]
    NotASelection {
        /// The dim.
        dim: Dim,
        /// The basis that is wrong.
        bit: usize,
        /// How many bases the dim has.
        bits: u32,
    },
    /// A mask selects input bits that are not there.
    #[error("mask {mask:#b} of {dim} selects input bits beyond the {bits} that there are")]
    MaskTooWide {
        /// The out dim.
        dim: Dim,
        /// The mask.
        mask: u64,
        /// How many input bits there are.
        bits: u32,
    },
    /// An addition is no xor, so the result would not be affine over F2.
    #[error(
        "adding {by} along {dim} carries, its low {bits} bits varying: that is no affine map over F2; \
             only multiples of what varies can be added"
    )]
    NotAffine {
        /// The dim.
        dim: Dim,
        /// What is to be added.
        by: u64,
        /// How many low bits vary.
        bits: u32,
    },
    /// The image of zero under the first map is never reached by the second.
    #[error("the second map never reaches the image of zero under the first")]
    OffsetNotReached,
}
