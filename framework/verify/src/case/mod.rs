//! Cases: a tile program with its launch, what its buffers hold before, and what they must hold after.
//!
//! A case is a file `NAME.json` with the program and the contents of buffers beside it. `docs/tile-ir.md` has the format.
//! [`ProgramCase::read`] reads one, [`ProgramCase::run`] runs a kernel that was made of its program on the emulator, over the whole
//! grid, and says in which buffers what it left is not what it must be; [`ProgramCase::test_case`] makes what
//! [`check`](crate::check) runs on a device.

mod compare;
mod element;
mod launch;
mod program;
mod read;

use std::path::PathBuf;

use thiserror::Error;

use tilewright_kernel::TensorMapBinding;

pub use compare::{Difference, ElementMismatch, Tolerance};
pub use element::{CaseElement, CaseNumber};
pub use launch::Ended;
pub use program::RunError;

/// A program, its launch, and what it must do.
#[derive(Debug, Clone, PartialEq)]
pub struct ProgramCase {
    /// The name, which is also its file's.
    pub name: String,
    /// The file of the program.
    pub program: PathBuf,
    /// The function that the launch begins with.
    pub entry: String,
    /// Programs along x, y and z.
    pub grid: [u32; 3],
    /// Warps of a program; its result does not depend on them.
    pub warps: u32,
    /// Stages of its loops that the launch asks for; its result does not depend on them.
    pub stages: Option<u32>,
    /// Blocks of a program.
    pub blocks: u32,
    /// What the function is given, in its order.
    pub arguments: Vec<CaseArgument>,
    /// The buffers, by name in the order of their names.
    pub buffers: Vec<CaseBuffer>,
}

/// What a function is given for one of its arguments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CaseArgument {
    /// Its name.
    pub name: String,
    /// What is given.
    pub given: CaseValue,
}

/// A buffer or a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CaseValue {
    /// The address of the buffer of this number.
    Buffer(usize),
    /// A number of the type that the function has: its bits.
    Scalar {
        /// The bits; those above the type's width are zero.
        bits: u64,
        /// How wide the type is.
        width: u32,
    },
    /// A tensor in the buffer of this number, for a parameter that is a map.
    Tensor(TensorMapBinding<usize>),
}

/// A buffer in global memory.
#[derive(Debug, Clone, PartialEq)]
pub struct CaseBuffer {
    /// Its name.
    pub name: String,
    /// What its elements are.
    pub element: CaseElement,
    /// Its shape, row-major.
    pub shape: Vec<u64>,
    /// Its bytes before the run.
    pub before: Vec<u8>,
    /// What it must hold after.
    pub after: Expectation,
}

/// What a buffer must hold after a run.
#[derive(Debug, Clone, PartialEq)]
pub enum Expectation {
    /// The same bytes as before.
    Unchanged,
    /// Numbers that may be off a little.
    Expected {
        /// The bytes of the numbers.
        bytes: Vec<u8>,
        /// By how much they may be off.
        tolerance: Tolerance,
    },
    /// Certain bits; the others may be anything.
    Masked {
        /// The bytes.
        bytes: Vec<u8>,
        /// The bits of them that are compared.
        mask: Vec<u8>,
    },
    /// Numbers that may be off by an amount of their own each.
    Near {
        /// The numbers, in the buffer's order; where one is not a number, so must be what is there.
        values: Vec<f64>,
        /// What each number is more than its value in `values`: the low part of an unevaluated sum. Empty if nothing.
        rests: Vec<f64>,
        /// By how much each may be off.
        allowed: Vec<f64>,
    },
    /// Anything.
    Anything,
}

impl Expectation {
    /// Exactly these bytes, if elements are integers.
    #[must_use]
    pub fn exactly(bytes: Vec<u8>) -> Self {
        Self::Expected { bytes, tolerance: Tolerance::default() }
    }
}

/// Why a case cannot be read; the fault of who wrote it.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum CaseError {
    /// A file is not there or cannot be read.
    #[error("{file}: {source}")]
    File {
        /// The file.
        file: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
    /// A file holds no JSON.
    #[error("{file}: {source}")]
    Json {
        /// The file.
        file: PathBuf,
        /// What is wrong, with line and column.
        source: serde_json::Error,
    },
    /// A field is missing or holds what it may not.
    #[error("{file}: `{field}`: {message}")]
    Field {
        /// The file.
        file: PathBuf,
        /// The field, from the outermost in.
        field: String,
        /// What was expected and what was found.
        message: String,
    },
}
