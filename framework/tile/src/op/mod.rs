//! What operations there are, as data: rows of dialect files.
//!
//! A row says which operands, results and attributes an operation has, how it is written, and how its types follow
//! from each other. One reader and one printer work by the rows ([`crate::text`]), so that what is printed is
//! what is read; adding an operation of a dialect is adding a row. Rows of vendors' dialects come from outside
//! ([`Dialects::add`]).

mod class;
mod definition;
mod dialects;
mod infer;
pub mod name;
mod read_template;
mod row;
mod rule;
mod template;

pub use class::Class;
pub use definition::{AttributeKind, AttributeRow, Count, Definition, Flags, OperandGroup, Traits};
pub use dialects::{DialectError, Dialects};
pub(super) use infer::GroupTypes;
pub use rule::{Expression, Rule};
pub use template::{Piece, Special};
