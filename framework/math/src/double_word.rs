//! Double-word arithmetic: values as the unevaluated sum of two floating-point values, with twice the digits.

use super::formula_builder::{FormulaBuilder, Real};
use super::table::ConstantTable;

impl<'p> FormulaBuilder<'p> {
    /// The double-word value whose parts are the first two entries of a table.
    pub fn double_word_table_entry(&'p self, table: &ConstantTable) -> DoubleWord<'p> {
        DoubleWord::new([self.table_entry(table, 0), self.table_entry(table, 1)])
    }
}

/// A floating-point value with twice the digits: the unevaluated sum of `high` and `low`.
#[derive(Clone, Copy)]
pub(super) struct DoubleWord<'p> {
    pub high: Real<'p>,
    pub low: Real<'p>,
}

impl<'p> DoubleWord<'p> {
    /// Creates the double-word value `high + low`; `high` must be this sum, rounded.
    pub fn new([high, low]: [Real<'p>; 2]) -> Self {
        Self { high, low }
    }

    /// Returns the exact product of two floating-point values.
    pub fn product(a: Real<'p>, b: Real<'p>) -> Self {
        Self::new(a.two_product(b))
    }

    /// Returns the product of two double-word values, without the product of their low parts, which is negligible.
    pub fn times(self, other: Self) -> Self {
        let [high, low] = self.high.two_product(other.high);
        Self { high, low: low + self.high.mul_add(other.low, self.low * other.high) }
    }

    /// Returns the sum of this value and `other`, which must be smaller in magnitude unless this value is zero.
    pub fn plus_smaller(self, other: Real<'p>) -> Self {
        let [high, left] = self.high.fast_two_sum(other);
        Self { high, low: left + self.low }
    }

    /// Returns the sum of two double-word values of any magnitude.
    pub fn plus(self, other: Self) -> Self {
        let [high, left] = self.high.two_sum(other.high);
        Self::new(high.fast_two_sum(left + (self.low + other.low)))
    }

    /// Rounds the value to one floating-point value.
    pub fn round(self) -> Real<'p> {
        self.high + self.low
    }
}
