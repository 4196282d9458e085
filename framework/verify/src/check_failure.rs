//! What a check finds wrong.

use thiserror::Error;
use tilewright_emulator::Fault;
use tilewright_kernel::{self as kernel, Counts};
use tilewright_lower::LowerError;
use tilewright_plan::movement::MovementError;
use tilewright_plugin::{CompileError, DeviceError};

use super::case::Difference;

/// Why a test case could not be built, or what it did wrong.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum CheckFailure {
    /// There is no plan for the question.
    #[error(transparent)]
    Movement(#[from] MovementError),
    /// The tile program around the operation cannot be lowered.
    #[error(transparent)]
    Lower(#[from] LowerError),
    /// The row of an instruction says too little or contradicts itself; its author's fault.
    #[error("the row: {0}")]
    Row(String),
    /// The kernel breaks a rule of the kernel IR.
    #[error("the kernel is invalid: {0}")]
    Invalid(#[from] kernel::VerifyError),
    /// The kernel takes other arguments than the case gives.
    #[error("{0}")]
    Arguments(String),
    /// The kernel does on the emulator what it may not.
    #[error("{0}")]
    Fault(Box<Fault>),
    /// The kernel was not compiled.
    #[error(transparent)]
    Compile(#[from] CompileError),
    /// The device did not run the kernel.
    #[error(transparent)]
    Device(#[from] DeviceError),
    /// A register, or an offset in memory, holds the wrong element.
    #[error("{place} holds {found:#x}, expected element {element}, which is {expected:#x}")]
    WrongElement {
        /// Which register of which lane of which warp of which block.
        place: String,
        /// The bits that it holds.
        found: u64,
        /// Row-major index of the element that it should hold.
        element: u64,
        /// That element's bits.
        expected: u64,
    },
    /// Buffers do not hold what they must.
    #[error("{}", .0.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))]
    Differences(Vec<Difference>),
    /// The plan counted something else than what was executed.
    #[error("the plan counts {planned:?}, executed were {executed:?}")]
    Counts {
        /// What the plan counts.
        planned: Box<Counts>,
        /// What was executed.
        executed: Box<Counts>,
    },
    /// The plan counted other sectors of global memory than those that were touched.
    #[error("{what}: the plan counts {planned} units of global memory, {executed} were touched")]
    Transactions {
        /// Loads or stores.
        what: &'static str,
        /// What the plan counts.
        planned: u64,
        /// What was touched.
        executed: u64,
    },
    /// What was executed is below the bound that no plan can go below.
    #[error("{what}: {executed} were executed, below the bound of {bound}")]
    Bound {
        /// What was counted.
        what: &'static str,
        /// How many were executed.
        executed: u64,
        /// How many there must be at least.
        bound: u64,
    },
}
