//! Powers of constants.
//!
//! The exponent is split into a whole power of two and a rest between about -1/2 and 1/2 powers of two, whose power a
//! polynomial gives. NaN goes through the arithmetic; arguments are clamped to where results are zero or infinite.

use super::place::{Real, Word};
use super::tables::constants::{LN_2, LOG2_10, LOG2_E, LOG10_2};
use super::tables::exponential::{EXP, EXP2, EXP10};

/// A power, `(high + low) * 2^exponent`: `high` between 1/2 and 2, `low` what its rounding left.
pub(super) struct Power<'p> {
    pub high: Real<'p>,
    pub low: Real<'p>,
    pub exponent: Word<'p>,
}

impl<'p> Power<'p> {
    /// As one number.
    pub fn rounded(self) -> Real<'p> {
        self.high.scaled(self.exponent)
    }
}

/// The argument without whole powers of two of the base, whose number comes too.
fn reduced<'p>(x: Real<'p>, per_power: Real<'p>, log: [Real<'p>; 2]) -> (Real<'p>, Word<'p>) {
    let (count, exponent) = x.nearest_of_product(per_power);
    let rest = count.mul_add(-log[0], x);
    (count.mul_add(-log[1], rest), exponent)
}

/// The argument where results are neither zero nor infinite, for a base of so many bits.
fn in_range<'p>(x: Real<'p>, bits: f64) -> Real<'p> {
    let [low, high] = x.place.by_type([-151.0, 129.0], [-1076.0, 1025.0]);
    x.clamped(low / bits, high / bits)
}

/// e to the power of a number between the limits where it is zero or infinite, and of a small one besides.
pub(super) fn exp_parts<'p>(x: Real<'p>, more: Option<Real<'p>>) -> Power<'p> {
    let place = x.place;
    let (rest, exponent) = reduced(x, place.entry(&LOG2_E, 0), [0, 1].map(|part| place.entry(&LN_2, part)));
    let power = (rest * rest).mul_add(EXP.at(rest), rest);
    let [high, low] = place.number(1.0).fast_sum(power);
    let low = more.map_or(low, |more| high.mul_add(more, low));
    Power { high, low, exponent }
}

pub(super) fn exp<'p>(x: Real<'p>) -> Real<'p> {
    let x = in_range(x, std::f64::consts::LOG2_E);
    let place = x.place;
    let (rest, exponent) = reduced(x, place.entry(&LOG2_E, 0), [0, 1].map(|part| place.entry(&LN_2, part)));
    let power = (rest * rest).mul_add(EXP.at(rest), rest);
    (power + 1.0).scaled(exponent)
}

pub(super) fn exp2<'p>(x: Real<'p>) -> Real<'p> {
    let x = in_range(x, 1.0);
    let (count, exponent) = x.nearest_of_product(1.0);
    let rest = x - count;
    rest.mul_add(EXP2.at(rest), 1.0).scaled(exponent)
}

pub(super) fn exp10<'p>(x: Real<'p>) -> Real<'p> {
    let x = in_range(x, std::f64::consts::LOG2_10);
    let place = x.place;
    let (rest, exponent) = reduced(x, place.entry(&LOG2_10, 0), [0, 1].map(|part| place.entry(&LOG10_2, part)));
    rest.mul_add(EXP10.at(rest), 1.0).scaled(exponent)
}

/// `e^x - 1`. Half of it is put together, so that nothing overflows too soon.
pub(super) fn expm1<'p>(x: Real<'p>) -> Real<'p> {
    let place = x.place;
    let [low, high] = place.by_type([-30.0, 89.0], [-60.0, 710.0]);
    let inside = x.clamped(low, high);
    let (rest, exponent) = reduced(inside, place.entry(&LOG2_E, 0), [0, 1].map(|part| place.entry(&LN_2, part)));
    let power = (rest * rest).mul_add(EXP.at(rest), rest);
    let half = (exponent - 1).power_of_two();
    let far = power.mul_add(half, half - 0.5) * 2.0;
    // Of what is next to zero, not even the last bit is lost, and the sign stays.
    exponent.is_equal(0).select(power.abs().with_sign_of(x), far)
}
