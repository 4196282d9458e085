//! Limits the size of a kernel.
//!
//! A tensor becomes one value for each register of its layout, so a short program can become millions of operations,
//! for which code generators take hours. A kernel may have [`MAX_KERNEL_OPERATIONS`]; the operation that exceeds the
//! limit is rejected after it is lowered. A dot, which grows with M, N and K, is checked before, by the number of
//! instructions that its plan issues.

use tilewright_kernel::{Element, MathFunction};
use tilewright_math as math;
use tilewright_tile::Op;

use super::error::{LowerError, LowerErrorReason, Lowered, MAX_KERNEL_OPERATIONS};
use super::lowering::Lowering;

impl Lowering<'_> {
    /// Lowers an operation, and checks that the kernel is not too large.
    pub(super) fn operation(&mut self, op: Op) -> Result<(), LowerError> {
        self.dispatch(op)?;
        self.check_size(0).map_err(|reason| reason.at(self.body, op))
    }

    /// Checks that the kernel stays within [`MAX_KERNEL_OPERATIONS`] with `more` further operations.
    pub(super) fn check_size(&mut self, more: u64) -> Lowered<()> {
        let operations = self.operations().saturating_add(more);
        if operations <= MAX_KERNEL_OPERATIONS { Ok(()) } else { Err(LowerErrorReason::TooLarge { operations }) }
    }

    /// Returns the number of operations that the kernel has so far.
    fn operations(&mut self) -> u64 {
        let context = self.config.context;
        let native = |function: MathFunction, element: Element| context.is_native_function(function, element);
        let written = |(function, element, count): (MathFunction, Element, u64)| {
            if native(function, element) {
                return 0;
            }
            let own = self.expansions.entry((function, element));
            count.saturating_mul(*own.or_insert_with(|| math::expansion_operation_count(function, element, native)))
        };
        let functions: u64 = self.builder.functions().map(written).fold(0, u64::saturating_add);
        self.builder.appended().saturating_add(functions)
    }
}
