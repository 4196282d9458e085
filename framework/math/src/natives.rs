//! The instructions of a target that formulas use.

use super::formula_builder::Real;
use tilewright_kernel::{Element, MathFunction};

/// The math functions that the target computes by an instruction, among those that the formulas of other functions use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Natives {
    pub exp2: bool,
    pub log2: bool,
    pub rsqrt: bool,
    pub div: bool,
}

impl Natives {
    pub(super) fn of(element: Element, native: &dyn Fn(MathFunction, Element) -> bool) -> Self {
        let [exp2, log2, rsqrt, div] = [MathFunction::Exp2, MathFunction::Log2, MathFunction::Rsqrt, MathFunction::Div]
            .map(|function| native(function, element));
        Self { exp2, log2, rsqrt, div }
    }

    /// Returns the quotient `x / y`: by the target's instruction if it has one, else rounded to nearest.
    pub(super) fn quotient<'p>(self, x: Real<'p>, y: Real<'p>) -> Real<'p> {
        match self.div {
            true => x
                .formula
                .wrap_real(x.formula.append_operations(|builder| builder.math(MathFunction::Div, &[x.value, y.value]))),
            false => x / y,
        }
    }
}
