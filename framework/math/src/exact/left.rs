//! What rounding to nearest left out, as a number of its sign: zero where a result is exact.
//!
//! Operands are scaled where products or what is left of them would vanish or overflow. Where an operand is no finite number, or
//! the result is infinite, what comes is anything.

use super::super::place::Real;
use super::parts::{greatest, split};

/// Of a sum: what is left is exact where the greater one comes first.
pub(super) fn of_sum<'p>(x: Real<'p>, y: Real<'p>) -> (Real<'p>, Real<'p>) {
    let is_less = x.abs().is_less(y.abs());
    let (greater, less) = (is_less.select(y, x), is_less.select(x, y));
    let [sum, left] = greater.fast_sum(less);
    (sum, left)
}

/// Of a product, by that of the mantissas.
pub(super) fn of_product<'p>(x: Real<'p>, y: Real<'p>) -> (Real<'p>, Real<'p>) {
    let product = x * y;
    let ((x_part, x_exponent), (y_part, y_exponent)) = (split(x), split(y));
    let down = x.place.word(0) - x_exponent - y_exponent;
    let scaled = product.is_equal(0.0).select(0.0, product.scaled(down));
    let left = x_part.mul_add(y_part, -scaled);
    let is_zero = x.is_equal(0.0) | y.is_equal(0.0);
    (product, is_zero.select(0.0, left))
}

/// Of a quotient: the divisor's mantissa times the quotient, from the other's.
pub(super) fn of_quotient<'p>(x: Real<'p>, y: Real<'p>) -> (Real<'p>, Real<'p>) {
    let quotient = x / y;
    let ((x_part, x_exponent), (y_part, y_exponent)) = (split(x), split(y));
    let scaled = quotient.is_equal(0.0).select(0.0, quotient.scaled(y_exponent - x_exponent));
    let left = scaled.mul_add(-y_part, x_part).with_sign_changed(y.sign());
    (quotient, x.is_equal(0.0).select(0.0, left))
}

/// Of a square root: its square, from the number.
pub(super) fn of_root<'p>(x: Real<'p>) -> (Real<'p>, Real<'p>) {
    let place = x.place;
    let (small, up) = place.by_type((2f64.powi(-80), 50), (2f64.powi(-900), 100));
    let root = x.sqrt();
    let is_small = x.is_less(small);
    let scaled = is_small.select(root * 2f64.powi(up), root);
    let square = is_small.select(x * 2f64.powi(2 * up), x);
    (root, scaled.mul_add(-scaled, square))
}

/// Of a product and a sum that are rounded once. Both are moved next to one; what is far less than the other only tells its
/// sign.
pub(super) fn of_fused<'p>(x: Real<'p>, y: Real<'p>, z: Real<'p>) -> (Real<'p>, Real<'p>) {
    let place = x.place;
    let result = x.mul_add(y, z);
    let ((x_part, x_exponent), (y_part, y_exponent), (z_part, z_exponent)) = (split(x), split(y), split(z));
    let of_product = x_exponent + y_exponent;
    let has_no_term = z.is_equal(0.0);
    let of_term = has_no_term.select_word(of_product, z_exponent);
    let greater = greatest(of_product, of_term);
    // Below, nothing of it reaches the other's last places.
    let far = place.word(0) - place.by_type(60, 120);
    let near = |exponent| greatest(exponent - greater, far).power_of_two();
    let [high, low] = x_part.two_product(y_part).map(|part| part * near(of_product));
    let term = has_no_term.select(0.0, z_part * near(of_term));
    let scaled = result.is_equal(0.0).select(0.0, result.scaled(place.word(0) - greater));
    // Four numbers that nearly cancel: added so that the first that is not zero has the sign of all.
    let [sum, sum_low] = high.two_sum(term);
    let [rest, rest_low] = sum.two_sum(-scaled);
    let [lows, lows_low] = sum_low.two_sum(low);
    let [left, left_low] = rest.two_sum(lows);
    let left = left.is_equal(0.0).select(left_low + lows_low + rest_low, left);
    let has_no_product = x.is_equal(0.0) | y.is_equal(0.0);
    (result, has_no_product.select(0.0, left))
}
