//! What can be wrong with a question about CuTe layouts.

use thiserror::Error;

/// Why a text is no CuTe layout, or an operation has no result.
///
/// All variants are the caller's: the operation is not defined on what was given.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum CuteError {
    /// The text cannot be read.
    #[error(transparent)]
    Text(#[from] crate::text::TextError),
    /// Tuples are nested too deeply.
    #[error("tuples are nested {depth} deep: {} is the most", super::MAX_DEPTH)]
    TooDeep {
        /// How deep.
        depth: usize,
    },
    /// A shape has a mode without elements.
    #[error("mode {mode} has size 0: every mode needs at least one element")]
    EmptyMode {
        /// Which leaf, from the left.
        mode: usize,
    },
    /// A number does not fit a machine word.
    #[error("{what} is more than 2^64 - 1: use smaller shapes or strides")]
    Overflow {
        /// What was computed.
        what: &'static str,
    },
    /// Two tuples should have the same nesting.
    #[error("{left} and {right} are not nested alike: {remedy}")]
    NotCongruent {
        /// One of them.
        left: String,
        /// The other.
        right: String,
        /// What is expected.
        remedy: &'static str,
    },
    /// A tuple has too many modes.
    #[error("{what} has {have} modes, at most {most} fit here")]
    TooManyModes {
        /// Which tuple.
        what: &'static str,
        /// How many it has.
        have: usize,
        /// How many there may be.
        most: usize,
    },
    /// The result is no layout: here is where every candidate differs from the exact value.
    #[error(
        "no layout is this {operation}: at index {index} it must be {exact}, a layout that is right before that has {candidate}"
    )]
    Inexact {
        /// The operation.
        operation: &'static str,
        /// The coordinate, as an integer.
        index: u64,
        /// The exact value there.
        exact: u64,
        /// What a layout would give there.
        candidate: u64,
    },
    /// Two coordinates have the same value where a layout must be injective.
    #[error("{operation} needs an injective layout: both {first} and {second} map to {value}")]
    NotInjective {
        /// The operation.
        operation: &'static str,
        /// One coordinate, as an integer.
        first: u64,
        /// The other.
        second: u64,
        /// Their common value.
        value: u64,
    },
    /// Division by the strides, one after the other, does not undo a layout.
    #[error("no left inverse was found: {value} should go back to {index}, dividing by the strides gives {found}")]
    NotUndone {
        /// A value of the layout.
        value: u64,
        /// Its coordinate, as an integer.
        index: u64,
        /// What division gives.
        found: u64,
    },
    /// No layout fills the gaps of another.
    #[error(
        "no layout completes this one: stride {stride} is no multiple of {block}, so the block moved to {start} and the layout both reach {stride}"
    )]
    NoComplement {
        /// The stride that does not fit.
        stride: u64,
        /// The size of what lies below it, gaps filled.
        block: u64,
        /// The last multiple of the block below the stride.
        start: u64,
    },
    /// One number should divide another.
    #[error("{operation}: {divisor} does not divide {number}")]
    NotDivisible {
        /// The operation.
        operation: &'static str,
        /// What should be divided.
        number: u64,
        /// By what.
        divisor: u64,
    },
    /// The exact answer would need too many points to be looked at.
    #[error("{operation} can be decided only point by point and has {points} points: {most} is the most")]
    TooManyPoints {
        /// The operation.
        operation: &'static str,
        /// How many points there are.
        points: u64,
        /// How many are looked at.
        most: u64,
    },
    /// An arrangement does not number its places from 0 without gaps.
    #[error("{layout} numbers {numbered} of its {size} places without a gap: give each place its own number from 0")]
    NotNumbered {
        /// The arrangement.
        layout: String,
        /// How many places have numbers that follow each other from 0.
        numbered: u64,
        /// How many places there are.
        size: u64,
    },
    /// A thread-value layout leaves its tile.
    #[error("element {last} lies outside the tile {tile} of {size} elements")]
    OutsideTile {
        /// The largest element.
        last: u64,
        /// The tile.
        tile: String,
        /// How many elements it has.
        size: u64,
    },
    /// The parameters are no swizzle.
    #[error("Swizzle<{bits},{base},{shift}>: {reason}")]
    Swizzle {
        /// How many bits are changed.
        bits: u32,
        /// How many low bits stay.
        base: u32,
        /// How far the changing bits lie above the changed ones.
        shift: i32,
        /// What is wrong with them.
        reason: &'static str,
    },
    /// A swizzle, offset and layout cannot be read as fewer or larger elements.
    #[error("cannot recast by {factor}: {reason}")]
    Recast {
        /// How many old elements make a new one.
        factor: u64,
        /// What stands against it.
        reason: &'static str,
    },
    /// The layout is not linear over F2.
    #[error("mode {mode} ({shape}:{stride}) is not linear over F2: {reason}")]
    NotLinear {
        /// The path of the mode, from the top, as in `1.0`.
        mode: String,
        /// Its size.
        shape: u64,
        /// Its stride.
        stride: u64,
        /// Why.
        reason: String,
    },
    /// A composed layout with an offset is affine, not linear.
    #[error("the offset is {offset}: a layout with an offset maps 0 elsewhere and is not linear")]
    Offset {
        /// The offset.
        offset: u64,
    },
    /// A padded memory layout has no text.
    #[error("this padded layout is no CuTe layout: {reason}")]
    Padded {
        /// Why.
        reason: &'static str,
    },
    /// A linear layout maps two inputs to one place where a chain of swizzles cannot.
    #[error(
        "basis {basis} of {dim} is a sum of others: only a layout that is injective but for zero bases is a chain of swizzles"
    )]
    DependentBasis {
        /// The in dim.
        dim: String,
        /// Which basis of it.
        basis: usize,
    },
    /// A linear layout cannot be built.
    #[error(transparent)]
    Linear(#[from] crate::LayoutError),
    /// No task mapping is a thread-value layout.
    #[error("no task mapping is {layout}: {reason}")]
    NoMapping {
        /// The layout.
        layout: String,
        /// Why.
        reason: String,
    },
}
