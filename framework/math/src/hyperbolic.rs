//! Hyperbolic functions: polynomials near zero, exponentials elsewhere.

use super::exponential::{Power, exp_double_word, exp_within};
use super::formula_builder::Real;
use super::natives::Natives;
use super::tables::hyperbolic::{SINH, TANH};
use tilewright_kernel::MathFunction;

/// Returns `(e^x + sign * e^-x) / 2` for `x` from zero on: `sign` is 1 for the hyperbolic cosine, -1 for the sine. It
/// is computed from half of the exponential, so that it does not overflow early; the rounding error of the exponential
/// is added to the smaller term.
fn half_sum<'p>(x: Real<'p>, sign: f64) -> Real<'p> {
    let greatest = x.formula.select_by_type(89.5, 710.6);
    let Power { high, low, exponent } = exp_double_word(x.clamp(0.0, greatest), None);
    let scale = (exponent - 2).exp2();
    let power = high * scale;
    (power + low.mul_add(scale, (sign / 16.0) / power)) * 2.0
}

pub(super) fn sinh<'p>(x: Real<'p>) -> Real<'p> {
    let size = x.abs();
    let z = size * size;
    let near = (size * z).mul_add(SINH.evaluate_polynomial(z), size);
    size.is_less(1.0).select(near, half_sum(size, -1.0)).with_sign_of(x)
}

pub(super) fn cosh<'p>(x: Real<'p>) -> Real<'p> {
    half_sum(x.abs(), 1.0)
}

pub(super) fn tanh<'p>(x: Real<'p>, natives: Natives) -> Real<'p> {
    let formula = x.formula;
    let size = x.abs();
    let z = size * size;
    let near = (size * z).mul_add(TANH.evaluate_polynomial(z), size);
    let far = if natives.exp2 && natives.rsqrt {
        let power = (size * (2.0 * std::f64::consts::LOG2_E)).apply_native(MathFunction::Exp2);
        // The square of the inverse root is the inverse; it is 0 for an infinite power.
        let root = (power + 1.0).apply_native(MathFunction::Rsqrt);
        (root * -2.0).mul_add(root, 1.0)
    } else {
        let greatest = formula.select_by_type(10.0, 20.0);
        let power = exp_within(size.clamp(0.0, greatest) * 2.0, natives);
        1.0 - 2.0 / (power + 1.0)
    };
    size.is_less(0.7).select(near, far).with_sign_of(x)
}
