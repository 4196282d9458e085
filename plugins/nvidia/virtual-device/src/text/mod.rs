//! PTX as text: what it is made of, read by the grammar of PTX ISA alone. What names and instructions mean is said
//! elsewhere ([`super::program`]).
//!
//! May import nothing else of the crate.

mod body;
mod cursor;
mod error;
mod lexer;
mod module;
mod syntax;

pub use error::PtxError;
pub use module::parse;
pub use syntax::PtxModule;
pub(super) use syntax::{Initial, Instruction, Kernel, Operand, Statement, Variable};
