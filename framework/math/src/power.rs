//! Powers: `x^y = 2^(y log2(x))`, with the logarithm and the exponent `y log2(x)` in double-word arithmetic.

use super::double_word::DoubleWord;
use super::formula_builder::{Bool, Real};
use super::logarithm;
use super::tables::constants::LOG2_E;
use super::tables::exponential::EXP2;

/// The binary logarithm of a finite positive value, as a double-word value.
fn log2_double_word<'p>(x: Real<'p>) -> DoubleWord<'p> {
    let (f, e) = logarithm::reduced(x);
    let fraction = logarithm::log1p_double_word(f).times(x.formula.double_word_table_entry(&LOG2_E));
    let sum = DoubleWord::new(e.fast_two_sum(fraction.high));
    DoubleWord::new(sum.high.fast_two_sum(sum.low + fraction.low))
}

/// Returns whether a value is an integer, and whether it is an odd integer.
fn parity<'p>(y: Real<'p>) -> (Bool<'p>, Bool<'p>) {
    let half = y * 0.5;
    let is_integer = y.truncate().is_equal(y);
    (is_integer, is_integer & !half.truncate().is_equal(half))
}

/// Returns `size` to the power of `y`, for a finite positive `size`.
fn magnitude<'p>(size: Real<'p>, y: Real<'p>) -> Real<'p> {
    // `most` limits the magnitude of `y`: greater exponents give finite nonzero results only for the base one. `range`
    // limits the binary exponent of the result: beyond it, the result is zero or infinite.
    let (most, range) = size.formula.select_by_type((1e12, 160.0), (1e22, 1100.0));
    let y = y.clamp(-most, most);
    let log = log2_double_word(size);
    let [high, left] = log.high.two_product(y);
    let low = high.abs().is_less(range).select(log.low.mul_add(y, left), 0.0);
    let high = high.clamp(-range, range);
    let (count, exponent) = high.round_product(1.0);
    let rest = high - count;
    let power = rest * EXP2.evaluate_polynomial(rest);
    // The low part of the exponent contributes the factor `2^low`, which is about `1 + natural`.
    let natural = low * std::f64::consts::LN_2;
    (power + natural.mul_add(power, natural) + 1.0).scale_by_power_of_two(exponent)
}

pub(super) fn pow<'p>(x: Real<'p>, y: Real<'p>) -> Real<'p> {
    let size = x.abs();
    let (is_integer, is_odd) = parity(y);
    // Powers of zero and infinity are zero or infinite.
    let is_zero = size.is_equal(0.0);
    let is_extreme = is_zero | size.is_equal(f64::INFINITY);
    let extreme = (is_zero ^ y.is_less(0.0)).select(0.0, f64::INFINITY);
    let result = is_extreme.select(extreme, magnitude(size, y));
    let result = result.flip_sign_by(is_odd.select_int(x.sign_bit(), 0));
    let is_real = is_integer | !x.is_less(0.0) | is_extreme;
    let result = (is_real & !x.is_unordered(y)).select(result, f64::NAN);
    (y.is_equal(0.0) | x.is_equal(1.0)).select(1.0, result)
}
