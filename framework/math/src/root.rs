//! Cube root, reciprocal square root and hypotenuse.

use super::formula_builder::Real;

/// Coefficients of the polynomial that approximates `m^(-1/3)` for `m` in [1/8, 1], in ascending order, for both types.
/// Its degree is 4, and its relative error is below 2^-7.1.
const GUESS: [f64; 5] = [2.6753898, -7.053142, 13.887896, -13.297517, 4.7944007];

/// Returns the cube root of `x`. It approximates the inverse cube root of the mantissa, refines it by steps that triple
/// the correct digits, multiplies its square by the mantissa, and applies one Newton step with the residual of the
/// cube.
pub(super) fn cbrt<'p>(x: Real<'p>) -> Real<'p> {
    let formula = x.formula;
    let (fraction, bias) = (formula.fraction_bits(), formula.exponent_bias());
    let size = x.abs();
    // Scale by 2^24 or 2^54.
    let (lifts, lift) = formula.select_by_type((8, 16_777_216.0), (18, 18_014_398_509_481_984.0));
    let is_small = size.is_less(formula.select_by_type(f64::from(f32::MIN_POSITIVE), f64::MIN_POSITIVE));
    let normal = is_small.select(size * lift, size);
    // `third` is a third of the exponent, computed by a multiplication; the mantissa `m` that is left is between 1/8
    // and 1.
    let above = (3 - bias % 3) % 3;
    let third = ((((normal.to_bits() >> fraction) + above) * 21_846) >> 16) - ((bias + above) / 3 - 1);
    let m = (normal.to_bits() - ((third * 3) << fraction)).as_real();
    let guess = GUESS[..4].iter().rev().fold(formula.real_constant(GUESS[4]), |sum, &c| sum.mul_add(m, c));
    let step = |y: Real<'p>| {
        let missing = (m * y).mul_add(-(y * y), 1.0);
        (y * missing).mul_add(missing.mul_add(2.0 / 9.0, 1.0 / 3.0), y)
    };
    let inverse = if formula.is_f32() { step(guess) } else { step(step(guess)) };
    let root = m * inverse * inverse;
    let [square, square_low] = root.two_product(root);
    let missing = square_low.mul_add(-root, square.mul_add(-root, m));
    let root = (missing * (1.0 / 3.0)).mul_add(inverse * inverse, root);
    let exponent = third - is_small.select_int(lifts, 0);
    let result = (root * exponent.exp2()).with_sign_of(x);
    let is_ordinary = formula.real_constant(0.0).is_less(size) & size.is_less(f64::INFINITY);
    is_ordinary.select(result, x)
}

pub(super) fn rsqrt<'p>(x: Real<'p>) -> Real<'p> {
    1.0 / x.sqrt()
}

/// Returns the hypotenuse `sqrt(x^2 + y^2)`. Both values are scaled, so that their squares neither overflow nor
/// underflow.
pub(super) fn hypot<'p>(x: Real<'p>, y: Real<'p>) -> Real<'p> {
    let formula = x.formula;
    let (x, y) = (x.abs(), y.abs());
    let is_steep = x.is_less(y);
    let (less, greater) = (is_steep.select(x, y), is_steep.select(y, x));
    // Scale by powers of two that depend on the range of the greater value.
    let (down, up) = formula.select_by_type((2f64.powi(-66), 2f64.powi(100)), (2f64.powi(-540), 2f64.powi(700)));
    let is_high = formula.real_constant(formula.select_by_type(2f64.powi(60), 2f64.powi(500))).is_less(greater);
    let is_low = greater.is_less(formula.select_by_type(2f64.powi(-40), 2f64.powi(-400)));
    let scale = is_high.select(down, is_low.select(up, 1.0));
    let back = is_high.select(1.0 / down, is_low.select(1.0 / up, 1.0));
    let (less, greater) = (less * scale, greater * scale);
    let result = greater.mul_add(greater, less * less).sqrt() * back;
    let is_infinite = x.is_equal(f64::INFINITY) | y.is_equal(f64::INFINITY);
    let result = x.is_unordered(y).select(f64::NAN, result);
    is_infinite.select(f64::INFINITY, result)
}
