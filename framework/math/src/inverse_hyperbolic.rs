//! Inverse hyperbolic functions: polynomials near zero, logarithms elsewhere.

use super::formula_builder::Real;
use super::logarithm::{log, log_of_one_and};
use super::tables::constants::LN_2;
use super::tables::hyperbolic::{ASINH, ATANH};

/// Returns the magnitude of arguments above which 1 is negligible next to the argument's square.
fn far<'p>(x: Real<'p>) -> f64 {
    x.formula.select_by_type(65_536.0, 4_294_967_296.0)
}

/// The natural logarithm of `2 x`.
fn log_of_twice<'p>(x: Real<'p>) -> Real<'p> {
    let [high, low] = [0, 1].map(|half| x.formula.table_entry(&LN_2, half));
    log(x) + low + high
}

/// Returns the square root of the positive number `high + low`, as a sum of two parts.
fn sqrt_high_low<'p>(high: Real<'p>, low: Real<'p>) -> [Real<'p>; 2] {
    let root = high.sqrt();
    let left = root.mul_add(-root, high) + low;
    [root, left / (root * 2.0)]
}

pub(super) fn asinh<'p>(x: Real<'p>) -> Real<'p> {
    let size = x.abs();
    let z = size * size;
    let near = (size * z).mul_add(ASINH.evaluate_polynomial(z), size);
    let limit = far(x);
    let inside = size.clamp(0.0, limit);
    // `x + sqrt(x^2 + 1)` equals `1 + (x + (sqrt(x^2 + 1) - 1))`; `log_of_one_and` takes the part after the first 1.
    let [square, left] = inside.two_product(inside);
    let [sum, more] = square.two_sum(1.0);
    let [root, rest] = sqrt_high_low(sum, more + left);
    let [half, lost] = root.two_sum(-1.0);
    let [sum, more] = inside.two_sum(half);
    let middle = log_of_one_and(sum, Some(more + (lost + rest)));
    let result = size.is_less(0.5).select(near, middle);
    let is_far = x.formula.real_constant(limit).is_less(size);
    is_far.select(log_of_twice(size), result).with_sign_of(x)
}

/// Returns the inverse hyperbolic cosine, `log(x + sqrt(x^2 - 1))`. With `t = x - 1`, the logarithm's argument is `1 +
/// t + sqrt(2 t + t^2)`.
pub(super) fn acosh<'p>(x: Real<'p>) -> Real<'p> {
    let limit = far(x);
    let t = x.clamp(1.0, limit) - 1.0;
    let [square, left] = t.two_product(t);
    let [sum, more] = (t * 2.0).two_sum(square);
    let [root, rest] = sqrt_high_low(sum, more + left);
    let [sum, more] = t.two_sum(root);
    let near = log_of_one_and(sum, Some(more + t.is_equal(0.0).select(0.0, rest)));
    let is_far = x.formula.real_constant(limit).is_less(x);
    let result = is_far.select(log_of_twice(x), near);
    x.is_less(1.0).select(f64::NAN, result)
}

pub(super) fn atanh<'p>(x: Real<'p>) -> Real<'p> {
    let size = x.abs();
    let z = size * size;
    let near = (size * z).mul_add(ATANH.evaluate_polynomial(z), size);
    let far = log_of_one_and(size * 2.0 / (1.0 - size), None) * 0.5;
    let result = size.is_less(0.5).select(near, far);
    let special = size.is_equal(1.0).select(f64::INFINITY, f64::NAN);
    size.is_less(1.0).select(result, special).with_sign_of(x)
}
