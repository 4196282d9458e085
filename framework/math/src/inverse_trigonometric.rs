//! Inverse trigonometric functions.

use super::formula_builder::{Bool, Real};
use super::natives::Natives;
use super::table::ConstantTable;
use super::tables::constants::{HALF_PI, PI};
use super::tables::inverse_trigonometric::{ASIN, ATAN};

/// Returns the arc tangent of a value between 0 and 1 as a sum of two parts: the value itself and a correction.
fn small_angle<'p>(tangent: Real<'p>) -> [Real<'p>; 2] {
    let z = tangent * tangent;
    [tangent, (tangent * z) * ATAN.evaluate_polynomial(z)]
}

/// Returns a constant (pi / 2 or pi) minus an angle; the angle is given as a sum of two parts.
fn constant_minus<'p>(constant: &ConstantTable, [angle, rest]: [Real<'p>; 2]) -> Real<'p> {
    let formula = angle.formula;
    let [high, low] = formula.table_entry(constant, 0).fast_two_sum(-angle);
    high + (low + (formula.table_entry(constant, 1) - rest))
}

/// Greatest tangent whose reciprocal is computed by the target's instruction; arc tangents of greater ones are pi / 2.
const MAX_TANGENT: f64 = (1u128 << 100) as f64;

/// Returns the reciprocal of a value above 1, and the error of the target's quotient, which may be two units off; `None`
/// if the reciprocal is rounded to nearest.
fn reciprocal<'p>(value: Real<'p>, natives: Natives) -> (Real<'p>, Option<Real<'p>>) {
    let one = value.formula.real_constant(1.0);
    if !natives.div {
        return (one / value, None);
    }
    let value = value.is_less(MAX_TANGENT).select(value, MAX_TANGENT);
    let inverse = natives.quotient(one, value);
    (inverse, Some(value.mul_add(-inverse, one) * inverse))
}

pub(super) fn atan<'p>(x: Real<'p>, natives: Natives) -> Real<'p> {
    let tangent = x.abs();
    let is_steep = x.formula.real_constant(1.0).is_less(tangent);
    let (inverse, error) = reciprocal(tangent, natives);
    let [angle, rest] = small_angle(is_steep.select(inverse, tangent));
    let steep_rest = error.map_or(rest, |error| rest + error);
    is_steep.select(constant_minus(&HALF_PI, [angle, steep_rest]), angle + rest).with_sign_of(x)
}

/// Returns the angle, in radians from -pi to pi, of the point (`x`, `y`) from the positive x axis (C `atan2`).
pub(super) fn atan2<'p>(y: Real<'p>, x: Real<'p>) -> Real<'p> {
    let (height, width) = (y.abs(), x.abs());
    let is_steep = width.is_less(height);
    let (less, greater) = (is_steep.select(width, height), is_steep.select(height, width));
    // If both coordinates are zero, C defines the angle as that of an axis; if both are infinite, as that of a
    // diagonal.
    let is_origin = greater.is_equal(0.0);
    let tangent = less.is_equal(greater).select(1.0, less / greater);
    let angle = small_angle(is_origin.select(0.0, tangent));
    let is_right = x.sign_bit().is_equal(0);
    let right = is_steep.select(constant_minus(&HALF_PI, angle), angle[0] + angle[1]);
    let left = is_steep.select(constant_minus(&HALF_PI, angle.map(|half| -half)), constant_minus(&PI, angle));
    let result = is_right.select(right, left).with_sign_of(y);
    x.is_unordered(y).select(f64::NAN, result)
}

/// Returns the arc sine of a value between 0 and 1, as a sum of two parts. If the value is above 1/2, the returned
/// condition is true, and the parts are of `(pi / 2 - asin(sine)) / 2` instead.
fn asin_high_low<'p>(sine: Real<'p>) -> (Bool<'p>, [Real<'p>; 2]) {
    let is_steep = sine.formula.real_constant(0.5).is_less(sine);
    let z = is_steep.select((1.0 - sine) * 0.5, sine * sine);
    let root = is_steep.select(z.sqrt(), sine);
    (is_steep, [root, (root * z) * ASIN.evaluate_polynomial(z)])
}

pub(super) fn asin<'p>(x: Real<'p>) -> Real<'p> {
    let (is_steep, angle) = asin_high_low(x.abs());
    is_steep.select(constant_minus(&HALF_PI, angle.map(|half| half * 2.0)), angle[0] + angle[1]).with_sign_of(x)
}

pub(super) fn acos<'p>(x: Real<'p>) -> Real<'p> {
    let (is_steep, angle) = asin_high_low(x.abs());
    let signed = [angle[0].flip_sign_by(x.sign_bit()), angle[1].flip_sign_by(x.sign_bit())];
    let twice = angle.map(|half| half * 2.0);
    let near_ends = x.is_less(0.0).select(constant_minus(&PI, twice), twice[0] + twice[1]);
    is_steep.select(near_ends, constant_minus(&HALF_PI, signed))
}
