//! The operations of the kernel IR.
//!
//! `table` has a row for each; `operation` makes [`Op`] of them. `choices`, `atomic` and `math` are the plain enums that
//! operations are told apart by, `rule` says what types operands and results have.

mod atomic;
mod choices;
mod field;
mod math;
mod operation;
mod rule;
mod table;

pub use atomic::{Atomic, MemoryOrder, MemoryScope};
pub use choices::{Binary, Cast, Compare, Exchange, Issuers, Scope, SpecialRegister, Unary};
pub use math::{MathFunction, Rounding};
pub use operation::{MAX_DEPTH, Op, Region, Statement};
pub(crate) use rule::{BOOL, INDEX, SCALAR, TypeRule, TypeSet, is_in_memory};
pub(crate) use table::operations;
