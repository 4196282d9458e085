//! Failures of checks.

use thiserror::Error;
use tilewright_emulator::Fault;
use tilewright_kernel::{self as kernel, Counts};
use tilewright_lower::LowerError;
use tilewright_plan::movement::MovementError;
use tilewright_plugin::{CompileError, DeviceError};

use super::case::BufferMismatchSummary;

/// The reason why a check fails: a test case cannot be built, or has a wrong result.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum CheckFailure {
    /// There is no plan for the problem.
    #[error(transparent)]
    Movement(#[from] MovementError),
    /// The tile program around the operation cannot be lowered.
    #[error(transparent)]
    Lower(#[from] LowerError),
    /// A table row is incomplete or contradictory; the error of the row's author.
    #[error("the instruction's description: {0}")]
    Row(String),
    /// The kernel violates a rule of the kernel IR.
    #[error("the kernel is invalid: {0}")]
    Invalid(#[from] kernel::VerifyError),
    /// The kernel takes other arguments than the case has.
    #[error("{0}")]
    Arguments(String),
    /// The emulator stopped the kernel with a fault.
    #[error("{0}")]
    Fault(Box<Fault>),
    /// The kernel was not compiled.
    #[error(transparent)]
    Compile(#[from] CompileError),
    /// The device did not run the kernel.
    #[error(transparent)]
    Device(#[from] DeviceError),
    /// A register or memory offset holds the wrong element.
    #[error("{location} has {found:#x}, expected element {element}, which is {expected:#x}")]
    WrongElement {
        /// The location: register, lane, warp and block, or the memory offset.
        location: String,
        /// The bits found there.
        found: u64,
        /// Row-major index of the expected element.
        element: u64,
        /// The bits of the expected element.
        expected: u64,
    },
    /// Buffers differ from their expected contents.
    #[error("{}", .0.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))]
    Differences(Vec<BufferMismatchSummary>),
    /// The planned counts differ from the executed ones.
    #[error("the plan counts {planned:?}, executed were {executed:?}")]
    Counts {
        /// The counts that the plan predicts.
        planned: Box<Counts>,
        /// The counts of the execution.
        executed: Box<Counts>,
    },
    /// The planned sectors of global memory differ from those that were touched.
    #[error("{what}: the plan counts {planned} sectors of global memory, {executed} were touched")]
    Transactions {
        /// Text that names the accesses that touch the sectors, e.g. `loads`.
        what: &'static str,
        /// Predicted number of sectors.
        planned: u64,
        /// Number of sectors that were touched.
        executed: u64,
    },
    /// A count is below the lower bound of all plans.
    #[error("{what}: {executed} were executed, below the bound of {bound}")]
    Bound {
        /// Text that names the counted operations, e.g. `shuffles`.
        what: &'static str,
        /// The count of the execution.
        executed: u64,
        /// The lower bound of the count over all plans.
        bound: u64,
    },
}
