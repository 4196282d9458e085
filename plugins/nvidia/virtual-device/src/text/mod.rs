//! PTX as text: what it is made of, read by the grammar of PTX ISA alone. What names and instructions mean is said
//! elsewhere ([`super::program`]).
//!
//! May import nothing else of the crate.

mod body;
mod cursor;
mod lexer;
mod module;
mod syntax;

use thiserror::Error;

pub use module::parse;
pub use syntax::Module;
pub(super) use syntax::{Initial, Instruction, Kernel, Operand, Statement, Variable};

/// Why a text is no program that the virtual device runs; its author's fault, or a limit that the message names.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("line {line}: {message}")]
pub struct PtxError {
    /// The line, counted from one.
    pub line: u32,
    /// What was found, what was expected, and what to do.
    pub message: String,
}

impl PtxError {
    pub(super) fn new(line: u32, message: impl Into<String>) -> Self {
        Self { line, message: message.into() }
    }
}
