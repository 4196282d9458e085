//! Powers: two to the power of the exponent times the base's logarithm, of which twice the digits are computed.

use super::double_word::DoubleWord;
use super::logarithm;
use super::place::{Real, Truth};
use super::tables::constants::LOG2_E;
use super::tables::exponential::EXP2;

/// Two's logarithm of a finite number above zero.
fn log2_parts<'p>(x: Real<'p>) -> DoubleWord<'p> {
    let (f, e) = logarithm::reduced(x);
    let fraction = logarithm::parts_of_one_and(f).times(x.place.parts(&LOG2_E));
    let sum = DoubleWord::new(e.fast_sum(fraction.high));
    DoubleWord::new(sum.high.fast_sum(sum.low + fraction.low))
}

/// Whether a number is whole, and whether it is odd.
fn parity<'p>(y: Real<'p>) -> (Truth<'p>, Truth<'p>) {
    let half = y * 0.5;
    let is_whole = y.truncated().is_equal(y);
    (is_whole, is_whole & !half.truncated().is_equal(half))
}

/// The magnitude of a power of a finite number above zero.
fn magnitude<'p>(size: Real<'p>, y: Real<'p>) -> Real<'p> {
    // Greater exponents make no finite powers but of one; greater powers of two are none.
    let (most, range) = size.place.by_type((1e12, 160.0), (1e22, 1100.0));
    let y = y.clamped(-most, most);
    let log = log2_parts(size);
    let [high, left] = log.high.two_product(y);
    let low = high.abs().is_less(range).select(log.low.mul_add(y, left), 0.0);
    let high = high.clamped(-range, range);
    let (count, whole) = high.nearest_of_product(1.0);
    let rest = high - count;
    let power = rest * EXP2.at(rest);
    // What the lower part adds to the power, and one.
    let natural = low * std::f64::consts::LN_2;
    (power + natural.mul_add(power, natural) + 1.0).scaled(whole)
}

pub(super) fn pow<'p>(x: Real<'p>, y: Real<'p>) -> Real<'p> {
    let size = x.abs();
    let (is_whole, is_odd) = parity(y);
    // Powers of zero and infinity are zero or infinite.
    let is_zero = size.is_equal(0.0);
    let is_extreme = is_zero | size.is_equal(f64::INFINITY);
    let extreme = (is_zero ^ y.is_less(0.0)).select(0.0, f64::INFINITY);
    let result = is_extreme.select(extreme, magnitude(size, y));
    let result = result.with_sign_changed(is_odd.select_word(x.sign(), 0));
    let is_real = is_whole | !x.is_less(0.0) | is_extreme;
    let result = (is_real & !x.is_unordered(y)).select(result, f64::NAN);
    (y.is_equal(0.0) | x.is_equal(1.0)).select(1.0, result)
}
