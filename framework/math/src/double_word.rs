//! Sums of two numbers, the second of which is less than the last place of the first: twice the digits.

use super::place::{Place, Real};
use super::table::Table;

impl<'p> Place<'p> {
    /// The first two entries of a table, as a number in two parts.
    pub fn parts(&'p self, table: &Table) -> DoubleWord<'p> {
        DoubleWord::new([self.entry(table, 0), self.entry(table, 1)])
    }
}

/// A number in two parts.
#[derive(Clone, Copy)]
pub(super) struct DoubleWord<'p> {
    pub high: Real<'p>,
    pub low: Real<'p>,
}

impl<'p> DoubleWord<'p> {
    /// Of parts as they are.
    pub fn new([high, low]: [Real<'p>; 2]) -> Self {
        Self { high, low }
    }

    /// The product of a number and another.
    pub fn product(a: Real<'p>, b: Real<'p>) -> Self {
        Self::new(a.two_product(b))
    }

    /// The product, but for the least parts'.
    pub fn times(self, other: Self) -> Self {
        let [high, low] = self.high.two_product(other.high);
        Self { high, low: low + self.high.mul_add(other.low, self.low * other.high) }
    }

    /// The sum with a number that is not greater, or any where this one is zero.
    pub fn and_less(self, other: Real<'p>) -> Self {
        let [high, left] = self.high.fast_sum(other);
        Self { high, low: left + self.low }
    }

    /// The sum, whichever is greater.
    pub fn plus(self, other: Self) -> Self {
        let [high, left] = self.high.two_sum(other.high);
        Self::new(high.fast_sum(left + (self.low + other.low)))
    }

    /// As one number.
    pub fn rounded(self) -> Real<'p> {
        self.high + self.low
    }
}
