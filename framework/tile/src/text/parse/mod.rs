//! Parses modules from text.

mod attributes;
mod branch;
mod dense;
mod draft;
mod finish;
mod form;
mod forward_refs;
mod function;
mod generic;
mod generic_module;
mod head;
mod location;
mod names;
mod numbers;
mod operation;
mod parser;
mod region;
mod resolve_forward_refs;
mod structured;
mod template;
mod types;

use parser::Parser;
pub use parser::parse_module;
