//! Values of polynomials.

use super::place::{Real, Truth};
use super::table::Table;

impl Table {
    /// The value of one of some polynomials: of the first whose condition holds, or the last.
    pub fn one_at<'p>(x: Real<'p>, pieces: &[(Truth<'p>, &Self)], last: &Self) -> Real<'p> {
        let place = x.place;
        let is_single = place.is_single();
        let count = pieces.iter().map(|(_, table)| table.len(is_single)).fold(last.len(is_single), usize::max);
        let coefficient = |index: usize| {
            let chosen = |otherwise: Real<'p>, (is_it, table): &(Truth<'p>, &Self)| {
                is_it.select(place.entry(table, index), otherwise)
            };
            pieces.iter().rev().fold(place.entry(last, index), chosen)
        };
        (0..count - 1).rev().fold(coefficient(count - 1), |sum, index| sum.mul_add(x, coefficient(index)))
    }

    /// The polynomial's value, by Horner's rule with one rounding a step.
    pub fn at<'p>(&self, x: Real<'p>) -> Real<'p> {
        let place = x.place;
        let last = self.len(place.is_single()) - 1;
        (0..last).rev().fold(place.entry(self, last), |sum, index| sum.mul_add(x, place.entry(self, index)))
    }
}
