//! The operations of the kernel IR.
//!
//! `table` has a row for each operation; `operation` generates [`Op`] from the rows. `choices`, `atomic` and `math` are
//! the enums in the operations' attributes; `rule` has the type rules of operands and results.

mod atomic;
mod choices;
mod field;
mod math;
mod operation;
mod rule;
mod table;

pub use atomic::{Atomic, MemoryOrder, MemoryScope};
pub use choices::{
    BarrierAction, Binary, Cast, ClockCounter, CollectiveScope, Compare, Issuers, RegisterChange, ShuffleMode,
    SpecialRegister, Unary,
};
pub use math::{DirectedRounding, MathFunction};
pub use operation::{MAX_REGION_DEPTH, Op, Region, Statement};
pub(crate) use rule::{BOOL, I32, SCALAR, TypeRule, TypeSet, is_in_memory};
pub(crate) use table::operations;
