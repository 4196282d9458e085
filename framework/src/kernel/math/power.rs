//! Powers: two to the power of the exponent times the base's logarithm, of which twice the digits are computed.

use super::logarithm;
use super::real::Real;
use super::tables::constants::{LOG2_E, TWO_THIRDS};
use super::tables::exponential::EXP2;
use super::tables::logarithm::ATANH_TAIL;
use super::truth::Truth;

/// The product of two sums.
fn product<'p>([a, a_low]: [Real<'p>; 2], [b, b_low]: [Real<'p>; 2]) -> [Real<'p>; 2] {
    let [high, low] = a.two_product(b);
    [high, low + a.mul_add(b_low, a_low * b)]
}

/// Two's logarithm of a finite number above zero. With `s = f / (2 + f)` that of `1 + f` is `2 atanh(s)`.
fn log2_parts<'p>(x: Real<'p>) -> [Real<'p>; 2] {
    let place = x.place;
    let (f, e) = logarithm::reduced(x);
    let [sum, sum_low] = place.number(2.0).fast_sum(f);
    let inverse = 1.0 / sum;
    let s = f * inverse;
    let s_low = s.mul_add(-sum_low, s.mul_add(-sum, f)) * inverse;
    let square = product([s, s_low], [s, s_low]);
    let [third, third_low] = [0, 1].map(|part| place.entry(&TWO_THIRDS, part));
    let [factor, factor_low] = third.fast_sum(square[0] * ATANH_TAIL.at(square[0]));
    let cube = product([s, s_low], square);
    let [rest, rest_low] = product(cube, [factor, factor_low + third_low]);
    let [natural, left] = (s * 2.0).fast_sum(rest);
    let natural_low = left + (s_low * 2.0 + rest_low);
    let [high, low] = product([natural, natural_low], [0, 1].map(|part| place.entry(&LOG2_E, part)));
    let [sum, left] = e.fast_sum(high);
    sum.fast_sum(left + low)
}

/// Whether a number is whole, and whether it is odd.
fn parity<'p>(y: Real<'p>) -> (Truth<'p>, Truth<'p>) {
    let half = y * 0.5;
    let is_whole = y.truncated().is_equal(y);
    (is_whole, is_whole & !half.truncated().is_equal(half))
}

/// The magnitude of a power of a finite number above zero.
fn magnitude<'p>(size: Real<'p>, y: Real<'p>) -> Real<'p> {
    let place = size.place;
    let (most, range) = place.by_type((1e12, 160.0), (1e22, 1100.0));
    let [high, low] = log2_parts(size);
    let exponent = y.clamped(-most, most);
    let [high, left] = high.two_product(exponent);
    let low = low.mul_add(exponent, left);
    let low = high.abs().is_less(range).select(low, 0.0);
    let high = high.clamped(-range, range);
    let (count, whole) = high.nearest_of_product(1.0);
    let rest = high - count;
    let natural = low * std::f64::consts::LN_2;
    let power = rest * EXP2.at(rest);
    (power + natural.mul_add(power, natural) + 1.0).scaled(whole)
}

pub(super) fn pow<'p>(x: Real<'p>, y: Real<'p>) -> Real<'p> {
    let place = x.place;
    let size = x.abs();
    let (is_whole, is_odd) = parity(y);
    // Of zero and infinity, powers are zero or infinite.
    let is_zero = size.is_equal(0.0);
    let is_extreme = is_zero | size.is_equal(f64::INFINITY);
    let extreme = (is_zero ^ y.is_less(0.0)).select(0.0, f64::INFINITY);
    let result = is_extreme.select(extreme, magnitude(size, y));
    let result = result.with_sign_changed(is_odd.select_word(x.sign(), 0));
    let is_real = is_whole | !x.is_less(0.0) | is_extreme;
    let result = is_real.select(result, f64::NAN);
    let result = x.is_unordered(y).select(f64::NAN, result);
    (y.is_equal(0.0) | x.is_equal(1.0)).select(place.number(1.0), result)
}
