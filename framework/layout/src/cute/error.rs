//! Errors of operations on CuTe layouts.

use thiserror::Error;

/// A text that is no CuTe layout, or an operation without a result.
///
/// Every variant is the caller's error: the operation is not defined for its arguments.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum CuteError {
    /// The text of a tuple, layout or swizzle cannot be read.
    #[error(transparent)]
    Text(#[from] crate::text::TextError),
    /// Tuples are nested too deeply.
    #[error("tuples are nested {depth} deep: {} is the most", super::MAX_DEPTH)]
    TooDeep {
        /// The nesting depth found.
        depth: usize,
    },
    /// A shape has a mode without elements.
    #[error("mode {mode} has size 0: every mode needs at least one element")]
    EmptyMode {
        /// Index of the empty mode among the leaves, from the left.
        mode: usize,
    },
    /// A number does not fit a machine word.
    #[error("{what} is more than 2^64 - 1: use smaller shapes or strides")]
    Overflow {
        /// Name of the number that does not fit.
        what: &'static str,
    },
    /// Two tuples should have the same nesting.
    #[error("{left} and {right} have different nesting: {remedy}")]
    NotCongruent {
        /// One of the tuples, as text.
        left: String,
        /// The other tuple, as text.
        right: String,
        /// How the caller corrects the call.
        remedy: &'static str,
    },
    /// A tuple has too many modes.
    #[error("{what} has {have} modes, at most {most} fit here")]
    TooManyModes {
        /// Name of the tuple that has too many modes.
        what: &'static str,
        /// Number of modes of the tuple.
        have: usize,
        /// Maximum number of modes.
        most: usize,
    },
    /// No layout has the exact values of the result: every candidate differs at this index.
    #[error(
        "no layout is this {operation}: at index {index} it must be {exact}, a layout that is right before that has {candidate}"
    )]
    Inexact {
        /// Name of the operation.
        operation: &'static str,
        /// The integer coordinate at which the values differ.
        index: u64,
        /// The exact value at `index`.
        exact: u64,
        /// The candidate's value at `index`.
        candidate: u64,
    },
    /// Two coordinates have the same value, but the layout must be injective.
    #[error("{operation} needs an injective layout: both {first} and {second} map to {value}")]
    NotInjective {
        /// Name of the operation.
        operation: &'static str,
        /// One of the two coordinates, as an integer.
        first: u64,
        /// The other coordinate, as an integer.
        second: u64,
        /// The value at both coordinates.
        value: u64,
    },
    /// Division by the strides, one after the other, does not invert a layout.
    #[error("no left inverse was found: {value} should map back to {index}, dividing by the strides yields {found}")]
    NotUndone {
        /// A value of the layout that is mapped to a wrong coordinate.
        value: u64,
        /// The coordinate of that value, as an integer.
        index: u64,
        /// The coordinate that the divisions give instead, as an integer.
        found: u64,
    },
    /// No layout fills the gaps of another.
    #[error(
        "no layout completes this one: stride {stride} is not a multiple of {block}, so the block moved to {start} \
         and the layout both reach {stride}"
    )]
    NoComplement {
        /// The stride that does not fit.
        stride: u64,
        /// Number of values from 0 on that the modes with smaller strides cover together with the complement found so
        /// far.
        block: u64,
        /// The greatest multiple of `block` below the stride.
        start: u64,
    },
    /// One number should divide another.
    #[error("{operation}: {divisor} does not divide {number}")]
    NotDivisible {
        /// Name of the operation.
        operation: &'static str,
        /// The number that should be divided.
        number: u64,
        /// The number that should divide it.
        divisor: u64,
    },
    /// An exact answer would need a check at too many points.
    #[error("{operation} can be decided only point by point and has {points} points: {most} is the most")]
    TooManyPoints {
        /// Name of the operation.
        operation: &'static str,
        /// Number of points that would be checked.
        points: u64,
        /// Maximum number of points.
        most: u64,
    },
    /// A layout of threads or values does not number its positions from 0 without gaps.
    #[error(
        "{layout} numbers {numbered} of its {size} positions without a gap: give each position a different number \
         from 0"
    )]
    NotNumbered {
        /// The layout of threads or values, as text.
        layout: String,
        /// Count of positions numbered consecutively from 0.
        numbered: u64,
        /// Number of positions of the layout.
        size: u64,
    },
    /// A thread-value layout leaves its tile.
    #[error("element {last} is outside the tile {tile} of {size} elements")]
    OutsideTile {
        /// The largest element index that the layout reaches.
        last: u64,
        /// Shape of the tile, as text.
        tile: String,
        /// Number of elements of the tile.
        size: u64,
    },
    /// The parameters of a swizzle are invalid.
    #[error("Swizzle<{bits},{base},{shift}>: {reason}")]
    Swizzle {
        /// Number of bits that the swizzle changes.
        bits: u32,
        /// Number of low bits that the swizzle leaves unchanged.
        base: u32,
        /// The shift of the swizzle: the distance in bits from the changed bits up to the bits that change them.
        shift: i32,
        /// The rule that the parameters violate.
        reason: &'static str,
    },
    /// A swizzle, offset and layout cannot be converted to wider or narrower elements.
    #[error("cannot recast by {ratio}: {reason}")]
    Recast {
        /// Number of old elements that make one new element.
        ratio: u64,
        /// The reason why they cannot be converted.
        reason: &'static str,
    },
    /// The layout is not linear over F2.
    #[error("mode {mode} ({shape}:{stride}) is not linear over F2: {reason}")]
    NotLinear {
        /// Path of the mode that is not linear, from the top, as in `1.0`.
        mode: String,
        /// Size of the mode.
        shape: u64,
        /// Stride of the mode.
        stride: u64,
        /// The reason why the mode is not linear.
        reason: String,
    },
    /// A composed layout with an offset is affine, not linear.
    #[error(
        "the offset is {offset}: a layout with an offset maps 0 elsewhere and is not linear; add the offset to the address"
    )]
    Offset {
        /// The offset of the composed layout.
        offset: u64,
    },
    /// A padded memory layout has no text.
    #[error("this padded layout is not a CuTe layout: {reason}")]
    Padded {
        /// The reason why the layout has no text.
        reason: &'static str,
    },
    /// A linear layout maps two inputs to one position, which no chain of swizzles can do.
    #[error("basis {basis} of {dim} is a sum of others: a chain of swizzles must be injective except for zero bases")]
    DependentBasis {
        /// The in dim of the dependent basis.
        dim: String,
        /// Index of the dependent basis in its dim.
        basis: usize,
    },
    /// A linear layout cannot be built.
    #[error(transparent)]
    Linear(#[from] crate::LayoutError),
    /// A thread-value layout is not the layout of any task mapping.
    #[error("no task mapping is {layout}: {reason}")]
    NoMapping {
        /// The thread-value layout, as text.
        layout: String,
        /// The reason why no task mapping has this layout.
        reason: String,
    },
}
