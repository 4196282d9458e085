//! How large a kernel may become.
//!
//! A tensor is one value for each register of its layout, so that a program of a few lines can ask for millions of operations,
//! on which code generators take hours. A thread may have [`MOST_OPERATIONS`]; an operation of the program that leads beyond
//! is refused. Products, which multiply what they are given, are asked before they are written.

use tilewright_kernel::{Element, MathFunction};
use tilewright_math as math;
use tilewright_tile::Op;

use super::error::{LowerError, Lowered, MOST_OPERATIONS, Reason};
use super::lowering::Lowering;

impl Lowering<'_> {
    /// Lowers an operation, as far as the kernel has room for what becomes of it.
    pub(super) fn operation(&mut self, op: Op) -> Result<(), LowerError> {
        self.dispatch(op)?;
        self.has_room(0).map_err(|reason| reason.at(self.body, op))
    }

    /// Whether the kernel may have so many more operations.
    pub(super) fn has_room(&mut self, more: u64) -> Lowered<()> {
        let operations = self.operations().saturating_add(more);
        if operations <= MOST_OPERATIONS { Ok(()) } else { Err(Reason::TooLarge { operations }) }
    }

    /// Operations so far.
    fn operations(&mut self) -> u64 {
        let target = self.machine.context.target;
        let written = |(function, element, count): (MathFunction, Element, u64)| {
            if target.function(function.name(), element.name()).is_some() {
                return 0;
            }
            let own = self.expansions.entry((function, element));
            count.saturating_mul(*own.or_insert_with(|| math::operations(function, element)))
        };
        let functions: u64 = self.builder.functions().map(written).fold(0, u64::saturating_add);
        self.builder.appended().saturating_add(functions)
    }
}
