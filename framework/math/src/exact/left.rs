//! Rounding errors of results to nearest: each is represented by a value of the same sign, which is zero if the result
//! is exact.
//!
//! Operands are scaled if products or errors would underflow or overflow. The error is unspecified if an operand or the
//! result is not finite.

use super::super::formula_builder::Real;
use super::float_bits::{greatest, split};

/// Returns the sum of two values, and its rounding error, which is exact because the term of greater magnitude comes
/// first.
pub(super) fn of_sum<'p>(x: Real<'p>, y: Real<'p>) -> (Real<'p>, Real<'p>) {
    let is_less = x.abs().is_less(y.abs());
    let (greater, less) = (is_less.select(y, x), is_less.select(x, y));
    let [sum, left] = greater.fast_two_sum(less);
    (sum, left)
}

/// Returns the product, and its rounding error times a power of two, computed from the mantissas of the operands.
pub(super) fn of_product<'p>(x: Real<'p>, y: Real<'p>) -> (Real<'p>, Real<'p>) {
    let product = x * y;
    let ((x_significand, x_exponent), (y_significand, y_exponent)) = (split(x), split(y));
    let down = x.formula.int_constant(0) - x_exponent - y_exponent;
    let scaled = product.is_equal(0.0).select(0.0, product.scale_by_power_of_two(down));
    let left = x_significand.mul_add(y_significand, -scaled);
    let is_zero = x.is_equal(0.0) | y.is_equal(0.0);
    (product, is_zero.select(0.0, left))
}

/// Returns the quotient `x / y`, and a value with the sign of its rounding error: the mantissa of `x` minus the scaled
/// quotient times the mantissa of `y`.
pub(super) fn of_quotient<'p>(x: Real<'p>, y: Real<'p>) -> (Real<'p>, Real<'p>) {
    let quotient = x / y;
    let ((x_significand, x_exponent), (y_significand, y_exponent)) = (split(x), split(y));
    let scaled = quotient.is_equal(0.0).select(0.0, quotient.scale_by_power_of_two(y_exponent - x_exponent));
    let left = scaled.mul_add(-y_significand, x_significand).flip_sign_by(y.sign_bit());
    (quotient, x.is_equal(0.0).select(0.0, left))
}

/// Returns the square root, and a value with the sign of its rounding error: the operand minus the square of the root,
/// both scaled if they are small.
pub(super) fn of_root<'p>(x: Real<'p>) -> (Real<'p>, Real<'p>) {
    let formula = x.formula;
    let (small, up) = formula.select_by_type((2f64.powi(-80), 50), (2f64.powi(-900), 100));
    let root = x.sqrt();
    let is_small = x.is_less(small);
    let scaled = is_small.select(root * 2f64.powi(up), root);
    let square = is_small.select(x * 2f64.powi(2 * up), x);
    (root, scaled.mul_add(-scaled, square))
}

/// Returns the fused multiply-add, and a value with the sign of its rounding error. Product and addend are scaled to
/// about one; if one of them is much smaller than the other, only its sign matters.
pub(super) fn of_fused<'p>(x: Real<'p>, y: Real<'p>, z: Real<'p>) -> (Real<'p>, Real<'p>) {
    let formula = x.formula;
    let result = x.mul_add(y, z);
    let ((x_significand, x_exponent), (y_significand, y_exponent), (z_significand, z_exponent)) =
        (split(x), split(y), split(z));
    let of_product = x_exponent + y_exponent;
    let has_no_term = z.is_equal(0.0);
    let of_term = has_no_term.select_int(of_product, z_exponent);
    let greater = greatest(of_product, of_term);
    // A term whose exponent is lower than the other's by more than this (negative) difference does not reach the
    // other's last bits.
    let far = formula.int_constant(0) - formula.select_by_type(60, 120);
    let near = |exponent| greatest(exponent - greater, far).exp2();
    let [high, low] = x_significand.two_product(y_significand).map(|half| half * near(of_product));
    let term = has_no_term.select(0.0, z_significand * near(of_term));
    let scaled = result.is_equal(0.0).select(0.0, result.scale_by_power_of_two(formula.int_constant(0) - greater));
    // Sums four values that nearly cancel, so that the first nonzero partial sum has the sign of the total.
    let [sum, sum_low] = high.two_sum(term);
    let [rest, rest_low] = sum.two_sum(-scaled);
    let [lows, lows_low] = sum_low.two_sum(low);
    let [left, left_low] = rest.two_sum(lows);
    let left = left.is_equal(0.0).select(left_low + lows_low + rest_low, left);
    let has_no_product = x.is_equal(0.0) | y.is_equal(0.0);
    (result, has_no_product.select(0.0, left))
}
