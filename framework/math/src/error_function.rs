//! The error function and its complement.

use super::exponential::{exp_double_word, exp_within};
use super::formula_builder::Real;
use super::natives::Natives;
use super::tables::error_function::{ERF, LOG_ERFC, SCALED_ERFC};

/// Returns the error function of `x`. It is a polynomial for magnitudes below 1; beyond, one minus the exponential of a
/// polynomial for `log(erfc(x))`.
pub(super) fn erf<'p>(x: Real<'p>, natives: Natives) -> Real<'p> {
    let formula = x.formula;
    let size = x.abs();
    let near = size.mul_add(ERF.evaluate_polynomial(size * size), size);
    let missing = LOG_ERFC.evaluate_polynomial(size.clamp(1.0, formula.select_by_type(4.0, 6.0)) - 2.0);
    let far = 1.0 - exp_within(missing, natives);
    size.is_less(1.0).select(near, far).with_sign_of(x)
}

/// Returns the complementary error function of `x`. From 1/2 on, it is `e^(-x^2) / (1 + 2 x)` times a slowly varying
/// function: a polynomial of `(x - k) / (x + k)` with a constant `k`.
pub(super) fn erfc<'p>(x: Real<'p>) -> Real<'p> {
    let formula = x.formula;
    let size = x.abs();
    let near = 0.5 - x.mul_add(ERF.evaluate_polynomial(x * x), x - 0.5);
    let inside = size.clamp(0.5, formula.select_by_type(10.5, 27.5));
    let middle = formula.select_by_type(2.0, 4.0);
    let above = SCALED_ERFC.evaluate_polynomial((inside - middle) / (inside + middle));
    let [numerator, numerator_low] = formula.real_constant(1.0).fast_two_sum(above);
    let [denominator, denominator_low] = (inside * 2.0).fast_two_sum(1.0);
    let scaled = numerator / denominator;
    let left = denominator_low.mul_add(-scaled, scaled.mul_add(-denominator, numerator) + numerator_low);
    // The correction is `left / denominator`, which equals `left * scaled / numerator`. The numerator differs from 1.2
    // by less than 0.1, so 0.83 approximates its inverse.
    let scaled_low = left * (scaled * 0.83);
    let [square, square_low] = inside.two_product(inside);
    let power = exp_double_word(-square, Some(-square_low));
    let high = power.high * scaled;
    let low = power.high.mul_add(scaled, -high) + power.low.mul_add(scaled, power.high * scaled_low);
    let far = (high + low).scale_by_power_of_two(power.exponent);
    let far = x.is_less(0.0).select(2.0 - far, far);
    size.is_less(0.5).select(near, far)
}
