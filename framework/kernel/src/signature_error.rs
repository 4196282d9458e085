//! Errors of operands, results and launches that do not fit an instruction.

use thiserror::Error;

use super::{Type, ValueRequirement};

/// The reason why operands, results or a launch do not fit an instruction; the kernel's fault.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum SignatureError {
    /// Too few or too many operands or results.
    #[error("it has {expected} {what}s, {found} were passed")]
    Count {
        /// `operand` or `result`.
        what: &'static str,
        /// The instruction's number of them.
        expected: usize,
        /// The given number.
        found: usize,
    },
    /// An operand or result of another type.
    #[error("{what} {index} is {found}; expected {expected}")]
    Value {
        /// `operand` or `result`.
        what: &'static str,
        /// Its index.
        index: usize,
        /// Its type.
        found: Type,
        /// The requirement.
        expected: ValueRequirement,
    },
    /// More warps issue the instruction together than a block has.
    #[error("{expected} warps issue it together; the kernel has {found}")]
    Warps {
        /// The warps that issue it.
        expected: u32,
        /// The warps of the kernel.
        found: u32,
    },
    /// The instruction's own operands disagree about warps: a fault of its row.
    #[error("its operands are for different numbers of warps")]
    OperandWarps,
    /// The instruction is for warps of other lanes.
    #[error("it is for warps of {expected} lanes; the kernel's have {found}")]
    Lanes {
        /// The lanes of its warps.
        expected: u32,
        /// The lanes of the kernel's warps.
        found: u32,
    },
    /// The instruction's own operands disagree about lanes: a fault of its row.
    #[error("its operands are for different numbers of lanes")]
    OperandLanes,
}
