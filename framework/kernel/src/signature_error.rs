//! Errors of operands, results and launches that do not fit an instruction.

use thiserror::Error;

use super::{Type, ValueTypeRequirement};

/// The reason why operands, results or a launch do not fit an instruction; an error of the kernel, except
/// [`Self::OperandWarps`] and [`Self::OperandLanes`].
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum SignatureError {
    /// The number of operands or results differs from the instruction's.
    #[error("it has {expected} {what}s, {found} were passed")]
    Count {
        /// Text for messages: `operand` or `result`.
        what: &'static str,
        /// The instruction's number of operands or results.
        expected: usize,
        /// The number of operands or results that the kernel passes.
        found: usize,
    },
    /// The type of an operand or result does not meet the instruction's requirement.
    #[error("{what} {index} is {found}; expected {expected}")]
    Value {
        /// Text for messages: `operand` or `result`.
        what: &'static str,
        /// Index of the operand or result, from 0.
        index: usize,
        /// Type of the value that the kernel passes or takes.
        found: Type,
        /// The instruction's requirement on the type.
        expected: ValueTypeRequirement,
    },
    /// More warps issue the instruction together than a block of the kernel has.
    #[error("{expected} warps issue it together; the kernel has {found}")]
    Warps {
        /// The number of warps that issue the instruction together.
        expected: u32,
        /// The number of warps of the kernel's block.
        found: u32,
    },
    /// The layouts of the instruction's operands have different numbers of warps; an error of its table row.
    #[error("its operands are for different numbers of warps")]
    OperandWarps,
    /// The instruction is for warps with another number of lanes than the kernel's.
    #[error("it is for warps of {expected} lanes; the kernel's have {found}")]
    Lanes {
        /// The number of lanes of a warp that can issue the instruction.
        expected: u32,
        /// The number of lanes of the kernel's warps.
        found: u32,
    },
    /// The layouts of the instruction's operands have different numbers of lanes; an error of its table row.
    #[error("its operands are for different numbers of lanes")]
    OperandLanes,
}
