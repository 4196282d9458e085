//! Writes modules as text.

mod form;
mod function;
mod line;
mod names;
mod operation;
mod printer;
mod template;

pub use printer::print;
use printer::{Layouts, Printer};
