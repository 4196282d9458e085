//! The set of operations, as data: rows of dialect files, one for each operation.
//!
//! A row defines the operands, results and attributes of an operation, its text format, and its type inference rules.
//! The parser and the printer ([`crate::text`]) both interpret the rows, so that printed text always parses back. A new
//! operation needs only a row. Rows of vendors' dialects are added at run time ([`Dialects::add_dialect`]).

mod class;
mod condition;
mod definition;
mod dialects;
mod infer;
pub mod name;
mod read_template;
mod row;
mod rule;
mod template;

pub use class::OperandTypeConstraint;
pub use condition::VerifyCondition;
pub use definition::{
    AttributeDefinition, AttributeKind, CountRule, FlagSetSyntax, OpDefinition, OpTraits, ValueGroup,
};
pub use dialects::{DialectError, Dialects};
pub(super) use infer::GroupTypes;
pub use rule::{TypeExpression, TypeInferenceRule};
pub use template::{FormatTemplatePiece, OpSpecificFormatPiece};
