//! Evaluation of polynomials.

use super::formula_builder::{Bool, Real};
use super::table::ConstantTable;

impl ConstantTable {
    /// Evaluates one of several polynomials at `x`: the first of `pieces` whose condition holds, else `last`. It
    /// selects the coefficients, and evaluates once.
    pub fn evaluate_piecewise<'p>(x: Real<'p>, pieces: &[(Bool<'p>, &Self)], last: &Self) -> Real<'p> {
        let formula = x.formula;
        let is_single = formula.is_f32();
        let count = pieces.iter().map(|(_, table)| table.len(is_single)).fold(last.len(is_single), usize::max);
        let coefficient = |index: usize| {
            let chosen = |otherwise: Real<'p>, (is_it, table): &(Bool<'p>, &Self)| {
                is_it.select(formula.table_entry(table, index), otherwise)
            };
            pieces.iter().rev().fold(formula.table_entry(last, index), chosen)
        };
        (0..count - 1).rev().fold(coefficient(count - 1), |sum, index| sum.mul_add(x, coefficient(index)))
    }

    /// Evaluates the polynomial with these coefficients at `x`, by Horner's rule with fused multiply-adds.
    pub fn evaluate_polynomial<'p>(&self, x: Real<'p>) -> Real<'p> {
        let formula = x.formula;
        let last = self.len(formula.is_f32()) - 1;
        (0..last)
            .rev()
            .fold(formula.table_entry(self, last), |sum, index| sum.mul_add(x, formula.table_entry(self, index)))
    }
}
