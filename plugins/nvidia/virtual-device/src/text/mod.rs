//! Parses PTX text by the grammar of the PTX ISA alone. The module [`super::program`] resolves names and instructions.
//!
//! This module may import nothing else from this crate.

mod body;
mod cursor;
mod error;
mod lexer;
mod module;
mod syntax;

pub use error::PtxError;
pub use module::parse_ptx;
pub use syntax::PtxModule;
pub(super) use syntax::{Function, Guard, Initial, Instruction, Kernel, Operand, Statement, Variable};
