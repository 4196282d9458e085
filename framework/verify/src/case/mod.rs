//! Program cases: a tile program with its launch, its input buffers and its expected output.
//!
//! A case is a file `NAME.json`, next to the program and the contents of its buffers. `docs/tile-ir.md` has the format.
//! [`ProgramCase::read`] reads a case. [`ProgramCase::run_emulated`] runs a kernel compiled from the case's program on
//! the emulator, over the whole grid, and reports the buffers that differ. [`ProgramCase::to_test_case`] converts the
//! case to a test case that [`check_on_device`](crate::check_on_device) runs on a device.

mod compare;
mod element;
mod launch;
mod program;
mod read;

use std::path::PathBuf;

use thiserror::Error;

pub use compare::{BufferMismatchSummary, ElementMismatch, Tolerance};
pub use element::{CaseElement, CaseElementValue, InvalidCaseElementError};
pub use launch::CaseRunResult;
pub use program::CaseRunError;
pub use tilewright::run::KernelArgument as CaseValue;

/// A tile program with its launch and expected results.
#[derive(Debug, Clone, PartialEq)]
pub struct ProgramCase {
    /// Name of the case and of its file.
    pub name: String,
    /// Path of the program's file.
    pub program: PathBuf,
    /// Name of the function that the launch runs.
    pub entry: String,
    /// Number of programs along x, y and z of the grid.
    pub grid: [u32; 3],
    /// Number of warps that execute a program; the result does not depend on it.
    pub warps: u32,
    /// Number of pipeline stages that the launch requests for loops; the result does not depend on it. `None` if it
    /// requests none.
    pub stages: Option<u32>,
    /// Number of blocks that execute a program together, as a cluster; 1 without clusters.
    pub blocks: u32,
    /// Arguments of the function, in order.
    pub arguments: Vec<CaseArgument>,
    /// The buffers, sorted by name.
    pub buffers: Vec<CaseBuffer>,
}

/// An argument of the function.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CaseArgument {
    /// Name of the argument in the case file, used in messages.
    pub name: String,
    /// Value of the argument.
    pub value: CaseValue,
}

/// A buffer in global memory.
#[derive(Debug, Clone, PartialEq)]
pub struct CaseBuffer {
    /// Name of the buffer, by which arguments in the case file refer to it; also used in messages.
    pub name: String,
    /// Element type of the buffer.
    pub element: CaseElement,
    /// Number of elements along each axis; the elements are row-major.
    pub shape: Vec<u64>,
    /// Contents of the buffer before the run, in bytes.
    pub before: Vec<u8>,
    /// Expected contents of the buffer after the run.
    pub after: ExpectedContents,
}

/// The expected contents of a buffer after a run.
#[derive(Debug, Clone, PartialEq)]
pub enum ExpectedContents {
    /// The same bytes as before the run.
    Unchanged,
    /// These elements, with one tolerance for all.
    Expected {
        /// The bytes of the expected elements.
        bytes: Vec<u8>,
        /// The tolerance of each element.
        tolerance: Tolerance,
    },
    /// Expects these bits wherever the mask has a set bit; the other bits are arbitrary.
    Masked {
        /// The bytes with the expected bits.
        bytes: Vec<u8>,
        /// The mask of the bits that are compared.
        mask: Vec<u8>,
    },
    /// These elements, each with its own tolerance.
    Near {
        /// The expected values of the elements in order; a NaN expects a NaN.
        values: Vec<f64>,
        /// Low parts of the expected values: an expected value is the unevaluated sum of its entries in `values` and
        /// `rests`. Empty if all low parts are zero.
        rests: Vec<f64>,
        /// Tolerated absolute error of each element.
        allowed: Vec<f64>,
    },
    /// Any contents.
    Anything,
}

impl ExpectedContents {
    /// Expects exactly these bytes if the elements are integers. Floating-point elements are compared as values,
    /// without tolerance.
    #[must_use]
    pub fn exact_bytes(bytes: Vec<u8>) -> Self {
        Self::Expected { bytes, tolerance: Tolerance::default() }
    }
}

/// An invalid case; the error of the case's author.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum CaseFileError {
    /// A file does not exist or cannot be read.
    #[error("{file}: {source}")]
    File {
        /// Path of the file.
        file: PathBuf,
        /// Error of the operating system.
        source: std::io::Error,
    },
    /// A file is not valid JSON.
    #[error("{file}: {source}")]
    Json {
        /// Path of the file.
        file: PathBuf,
        /// The error of the JSON parser, with line and column in the file.
        source: serde_json::Error,
    },
    /// A field is missing or has an invalid value.
    #[error("{file}: `{field}`: {message}")]
    Field {
        /// Path of the file.
        file: PathBuf,
        /// Path of the field within the file.
        field: String,
        /// The expected and the found value.
        message: String,
    },
}
