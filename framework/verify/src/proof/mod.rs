//! Showing that plans do what they say: a plan's kernel is run on the emulator, everything that it
//! leaves in registers and memory is compared with what the layouts say, and what was executed with
//! what the plan counted.

mod asked;
mod block_load;
mod boxes;
mod copy;
mod device;
mod execute;
mod memory;
mod on_device;
mod prefetch;
mod registers;
mod repeated;
mod strided;
mod trials;

use thiserror::Error;

use tilewright_emulator::{Fault, MemoryError};
use tilewright_kernel::{self as kernel, Counts};
use tilewright_plan::movement::MovementError;
use tilewright_plugin::{CompileError, DeviceError};

pub use block_load::{BlockTile, prove_block_loads, prove_block_loads_on};
pub use boxes::{box_tiles_trial, prove_box_tiles};
pub use copy::prove_shared_copy;
pub(super) use device::Machine;
pub(super) use execute::{run, word};
pub use memory::{prove_copy, prove_load, prove_store};
pub use on_device::{prove_conversion_on, prove_gather_on, prove_reduction_on, prove_scan_on};
pub use prefetch::prove_prefetched;
pub use registers::{prove_conversion, prove_gather, prove_reduction, prove_scan};
pub use repeated::Repeated;
pub use strided::prove_strided_copy;
pub use trials::{conversion_trial, gather_trial, reduction_trial, scan_trial};

/// What a plan, or an instruction, does wrong: a fault of this framework.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum Disproof {
    /// The question is none.
    #[error(transparent)]
    Movement(#[from] MovementError),
    /// The row of an instruction says too little or contradicts itself; its author's fault.
    #[error("the row: {0}")]
    Row(String),
    /// The kernel breaks a rule of the kernel IR.
    #[error("the kernel is invalid: {0}")]
    Invalid(#[from] kernel::VerifyError),
    /// The kernel does something that it may not.
    #[error("{0}")]
    Fault(Box<Fault>),
    /// The kernel was not compiled.
    #[error(transparent)]
    Compile(#[from] CompileError),
    /// The device did not run the kernel.
    #[error(transparent)]
    Device(#[from] DeviceError),
    /// The kernel left something unwritten.
    #[error("what the kernel wrote cannot be read: {0}")]
    Unwritten(#[from] MemoryError),
    /// A register holds the wrong element.
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
    /// An element is farther from the right value than its type and the sum's length allow.
    #[error("{place} is {found:e}, expected {expected:e} within {tolerance:e}")]
    Imprecise {
        /// Where.
        place: String,
        /// What it is.
        found: f64,
        /// What it should be.
        expected: f64,
        /// How far it may be off.
        tolerance: f64,
    },
    /// The plan counted something else than what was executed.
    #[error("the plan counts {planned:?}, executed were {executed:?}")]
    Counts {
        /// What the plan counts.
        planned: Box<Counts>,
        /// What was executed.
        executed: Box<Counts>,
    },
    /// The plan counted other units of global memory than those that were touched.
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
