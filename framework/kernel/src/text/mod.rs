//! Modules as text.
//!
//! One statement a line, regions in braces; `docs/kernel-ir.md` has the grammar. [`parse`] reads
//! what `Display` writes: `parse(&module.to_string())` gives the module back, verified or not, as
//! long as the bodies of its kernels take no arguments and regions nest no deeper than
//! [`super::MAX_DEPTH`].

mod form;
mod operation;
mod parse;
mod parser;
mod print;

pub use parse::parse;
pub use print::statement_line;
