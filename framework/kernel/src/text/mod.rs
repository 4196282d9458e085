//! Modules as text.
//!
//! One statement per line, regions in braces; `docs/kernel-ir.md` has the grammar. [`parse_module`] accepts the output
//! of `Display`: `parse(&module.to_string())` returns the module, verified or not, if the bodies of its kernels have no
//! arguments and regions nest at most [`super::MAX_REGION_DEPTH`] deep.

mod form;
mod operation;
mod parse;
mod parser;
mod print;

pub use parse::parse_module;
pub use print::print_statement;
