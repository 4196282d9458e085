//! Inverses of the error function and of its complement, and the scaled complement.
//!
//! With `w = -log(1 - x^2)`, the quotient `erfinv(x) / x` varies slowly. It is a polynomial of `w` for `w` below 5, and
//! above one of two polynomials of the square root of `w` (Giles, "Approximating the erfinv function", GPU Computing
//! Gems, 2011, with other coefficients).

use super::exponential::exp_double_word;
use super::formula_builder::Real;
use super::logarithm::log;
use super::tables::inverse_error_function::{FAR, MIDDLE, NEAR};
use super::tables::scaled_error_function::SCALED;

/// Returns the inverse of the error function at `x`; `rest` is `1 - x^2`, which the caller knows more accurately.
fn inverse<'p>(x: Real<'p>, rest: Real<'p>) -> Real<'p> {
    let formula = x.formula;
    let w = -log(rest);
    let root = w.sqrt();
    let near = NEAR.evaluate_polynomial(w - 2.5);
    let middle = MIDDLE.evaluate_polynomial(root - 4.0);
    let far = FAR.evaluate_polynomial(root - formula.select_by_type(7.0, 16.0));
    let is_middle = root.is_less(formula.select_by_type(4.02, 6.05));
    x * w.is_less(5.0).select(near, is_middle.select(middle, far))
}

pub(super) fn erfinv<'p>(x: Real<'p>) -> Real<'p> {
    let rest = (-x).mul_add(x, 1.0);
    let at_end = x.formula.real_constant(f64::INFINITY).with_sign_of(x);
    rest.is_equal(0.0).select(at_end, inverse(x, rest))
}

pub(super) fn erfcinv<'p>(y: Real<'p>) -> Real<'p> {
    let rest = y * (2.0 - y);
    let at_end = y.is_equal(0.0).select(f64::INFINITY, f64::NEG_INFINITY);
    (y.is_equal(0.0) | y.is_equal(2.0)).select(at_end, inverse(1.0 - y, rest))
}

/// Returns the scaled complementary error function, `e^(x^2) erfc(x)`. For `x` from zero on, it is a slowly varying
/// function of `x`, divided by `1 + 2 x`; below zero, it is `2 e^(x^2)` minus the scaled function at `-x`.
pub(super) fn erfcx<'p>(x: Real<'p>) -> Real<'p> {
    let formula = x.formula;
    let size = x.abs();
    // Beyond 1e30, the polynomial's argument rounds to one.
    let inside = size.clamp(0.0, 1e30);
    let middle = formula.select_by_type(2.0, 4.0);
    let above = SCALED.evaluate_polynomial((inside - middle) / (inside + middle));
    let [numerator, numerator_low] = formula.real_constant(1.0).fast_two_sum(above);
    let [denominator, denominator_low] = size.two_sum(0.5);
    let quotient = numerator / denominator;
    let left = denominator_low.mul_add(-quotient, quotient.mul_add(-denominator, numerator) + numerator_low);
    let above = 0.5 * (quotient + left / denominator);
    let above = size.is_equal(f64::INFINITY).select(0.0, above);
    // Results for arguments of greater magnitude are infinite.
    let inside = size.clamp(0.0, formula.select_by_type(9.5, 26.9));
    let [square, square_low] = inside.two_product(inside);
    let power = exp_double_word(square, Some(square_low));
    let below = (power.high + power.low).scale_by_power_of_two(power.exponent + 1) - above;
    x.is_less(0.0).select(below, above)
}
