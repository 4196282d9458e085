//! Prints modules as text.

mod form;
mod function;
mod line;
mod module;
mod names;
mod operation;
mod printer;
mod template;

pub use module::print_module;
use printer::{Layouts, Printer};
