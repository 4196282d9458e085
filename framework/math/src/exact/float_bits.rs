//! Decomposition of floating-point values into sign, exponent and fraction.

use super::super::formula_builder::{Int, Real};

/// Splits a value into a signed mantissa, of magnitude from one to below two, and its unbiased exponent; both are
/// unspecified for zero, infinity and NaN.
pub(super) fn split<'p>(x: Real<'p>) -> (Real<'p>, Int<'p>) {
    let formula = x.formula;
    let (lift, least) = formula.select_by_type((32, f64::from(f32::MIN_POSITIVE)), (64, f64::MIN_POSITIVE));
    let is_small = x.abs().is_less(least);
    let bits = is_small.select(x * 2f64.powi(lift), x).to_bits();
    let fields = formula.select_by_type(0xff, 0x7ff);
    let exponent = ((bits >> formula.fraction_bits()) & fields)
        - is_small.select_int(formula.exponent_bias() + lift as u64, formula.exponent_bias());
    let mantissa = (bits & !(fields << formula.fraction_bits())) | (formula.exponent_bias() << formula.fraction_bits());
    (mantissa.as_real(), exponent)
}

/// Minimum of two signed integers of magnitude below 2^20.
pub(super) fn least<'p>(a: Int<'p>, b: Int<'p>) -> Int<'p> {
    let lifted = |int: Int<'p>| int + (1 << 20);
    lifted(a).is_less(lifted(b)).select_int(a, b)
}

/// Maximum of two signed integers of magnitude below 2^20.
pub(super) fn greatest<'p>(a: Int<'p>, b: Int<'p>) -> Int<'p> {
    let lifted = |int: Int<'p>| int + (1 << 20);
    lifted(a).is_less(lifted(b)).select_int(b, a)
}

/// Returns the least value greater than `x`, which is not NaN; infinity for infinity.
pub(super) fn next_up<'p>(x: Real<'p>) -> Real<'p> {
    let formula = x.formula;
    // Adding zero removes the sign of a negative zero.
    let bits = (x + 0.0).to_bits();
    let sign = bits >> (formula.float_bits() - 1);
    // Adds one to the bits of a positive value, subtracts one from the bits of a negative one.
    let next = bits + 1 - (sign << 1);
    x.is_equal(f64::INFINITY).select(x, next.as_real())
}

/// Returns the greatest value less than `x`, which is not NaN; minus infinity for minus infinity.
pub(super) fn next_down<'p>(x: Real<'p>) -> Real<'p> {
    -next_up(-x)
}

/// Returns the value next to `x` in the direction of `y`; `y` if they are equal, NaN if one of them is NaN.
pub(in super::super) fn next_after<'p>(x: Real<'p>, y: Real<'p>) -> Real<'p> {
    let moved = x.is_less(y).select(next_up(x), next_down(x));
    let result = x.is_equal(y).select(y, moved);
    x.is_unordered(y).select(f64::NAN, result)
}

/// Returns the unbiased exponent of `x` as a floating-point value: minus infinity for zero, infinity for infinities.
pub(in super::super) fn logb<'p>(x: Real<'p>) -> Real<'p> {
    let (_, exponent) = split(x);
    let result = x.is_equal(0.0).select(f64::NEG_INFINITY, exponent.small_to_real());
    let size = x.abs();
    // The exponent of infinity is infinity; NaN stays NaN.
    size.is_less(f64::INFINITY).select(result, size)
}

/// Returns `x` times two to the power of the integral value `n`, with one rounding.
pub(in super::super) fn scaled_by<'p>(x: Real<'p>, n: Real<'p>) -> Real<'p> {
    let formula = x.formula;
    let (mantissa, exponent) = split(x);
    let far = formula.select_by_type(400.0, 2400.0);
    let exponent = exponent + n.clamp(-far, far).to_int();
    // Exponents of greater magnitude give zero or infinity in any case. The result is scaled in two steps: one is
    // exact, the other rounds.
    let (most, step) = formula.select_by_type((190, 64), (1150, 128));
    let zero = formula.int_constant(0);
    let exponent = least(greatest(exponent, zero - most), formula.int_constant(most));
    let is_negative = (exponent >> (formula.float_bits() - 1)).is_equal(1);
    let second = is_negative.select_int(zero - step, step);
    let far = mantissa * (exponent - second).exp2() * second.exp2();
    // If the result is a normal number, it takes one step, which is exact.
    let is_near = (exponent + (formula.exponent_bias() - 1)).is_less(2 * formula.exponent_bias());
    let result = is_near.select(mantissa * exponent.exp2(), far);
    let is_itself = x.is_equal(0.0) | !x.abs().is_less(f64::INFINITY);
    let result = is_itself.select(x + x, result);
    n.is_unordered(n).select(n, result)
}
