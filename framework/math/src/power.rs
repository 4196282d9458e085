//! Powers: `x^y = 2^(y log2(x))`, with the logarithm and the exponent `y log2(x)` as double-word values. In binary64,
//! all steps to them are double-word arithmetic; in binary32, only those whose error the result would show.

use tilewright_kernel::{Builder, Element, MathFunction, Value};

use super::bound::error_bound_ulps;
use super::double_word::DoubleWord;
use super::formula_builder::{Bool, FormulaBuilder, Real};
use super::logarithm;
use super::natives::Natives;
use super::tables::constants::{LOG2_E, TWO_THIRDS};
use super::tables::exponential::EXP2;
use super::tables::logarithm::ATANH_TAIL;

/// The binary logarithm of a finite positive value, as a double-word value.
fn log2_double_word<'p>(x: Real<'p>) -> DoubleWord<'p> {
    let (f, e) = logarithm::reduced(x);
    let fraction = logarithm::log1p_double_word(f).times(x.formula.double_word_table_entry(&LOG2_E));
    let sum = DoubleWord::new(e.fast_two_sum(fraction.high));
    DoubleWord::new(sum.high.fast_two_sum(sum.low + fraction.low))
}

/// The binary logarithm of a finite positive value in binary32: `e + (2 s + c s^3) log2(e)` with `s = f / (2 + f)` and a
/// polynomial `c` of `s^2`. The error of the quotient `s` is kept, and the term of the third power, which is below
/// 2^-7, is rounded to one word.
fn log2_double_word_single<'p>(x: Real<'p>, natives: Natives) -> DoubleWord<'p> {
    let formula = x.formula;
    let (f, e) = logarithm::reduced(x);
    let inverse = natives.quotient(formula.real_constant(1.0), f + 2.0);
    let s = f * inverse;
    let s_low = s.mul_add(-f, s.mul_add(-2.0, f)) * inverse;
    let square = s * s;
    let series = square.mul_add(ATANH_TAIL.evaluate_polynomial(square), formula.table_entry(&TWO_THIRDS, 0));
    let cubic = square * (series * formula.table_entry(&LOG2_E, 0));
    let [scale, scale_low] = [0, 1].map(|index| formula.table_entry(&LOG2_E, index) * 2.0);
    let high = s.mul_add(scale, e);
    let low = s.mul_add(scale, e - high);
    let low = s_low.mul_add(cubic.mul_add(3.0, scale), s.mul_add(scale_low, low));
    DoubleWord::new(high.fast_two_sum(cubic.mul_add(s, low)))
}

/// Returns `size` to the power of `y` in binary32, for a finite positive `size`.
fn magnitude_single<'p>(size: Real<'p>, y: Real<'p>, natives: Natives) -> Real<'p> {
    /// Beyond this binary exponent, the result is zero or infinite.
    const MAX_EXPONENT: f64 = 152.0;
    let log = log2_double_word_single(size, natives);
    let [high, left] = log.high.two_product(y);
    let (count, exponent) = high.round_product(1.0);
    let rest = (high - count) + log.low.mul_add(y, left);
    let power = rest.mul_add(EXP2.evaluate_polynomial(rest), 1.0).scale_by_power_of_two(exponent);
    let far = high.is_less(0.0).select(0.0, f64::INFINITY);
    let power = size.formula.real_constant(MAX_EXPONENT).is_less(high.abs()).select(far, power);
    // The logarithm of one is zero, and its product with an infinite exponent is NaN.
    size.is_equal(1.0).select(1.0, power)
}

/// Returns whether a value is an integer, and whether it is an odd integer.
fn parity<'p>(y: Real<'p>) -> (Bool<'p>, Bool<'p>) {
    let half = y * 0.5;
    let is_integer = y.truncate().is_equal(y);
    (is_integer, is_integer & !half.truncate().is_equal(half))
}

/// Returns `size` to the power of `y` in binary64, for a finite positive `size`.
fn magnitude<'p>(size: Real<'p>, y: Real<'p>) -> Real<'p> {
    // `most` limits the magnitude of `y`: greater exponents give finite nonzero results only for the base one. `range`
    // limits the binary exponent of the result: beyond it, the result is zero or infinite.
    let (most, range) = (1e22, 1100.0);
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

/// Returns the exponent as an integer if it is so small that multiplications stay within the error bound of powers;
/// `None` for others. The error of `x^n` by multiplications is at most `n - 1` units in the last place.
pub(super) fn small_exponent(exponent: f64, element: Element) -> Option<u32> {
    let bound = error_bound_ulps(MathFunction::Pow, element)?;
    (2..=4u32).find(|&small| f64::from(small) == exponent && f64::from(small - 1) <= bound)
}

/// Appends the multiplications of `x^exponent`; the exponent is 2, 3 or 4.
pub(super) fn append_small_power(builder: &mut Builder, element: Element, x: Value, exponent: u32) -> Value {
    let formula = FormulaBuilder::new(builder, element);
    let x = formula.wrap_real(x);
    let square = x * x;
    let power = match exponent {
        2 => square,
        3 => square * x,
        _ => square * square,
    };
    power.value
}

pub(super) fn pow<'p>(x: Real<'p>, y: Real<'p>, natives: Natives) -> Real<'p> {
    let size = x.abs();
    let power = if x.formula.is_f32() { magnitude_single(size, y, natives) } else { magnitude(size, y) };
    let (is_integer, is_odd) = parity(y);
    // Powers of zero and infinity are zero or infinite.
    let is_zero = size.is_equal(0.0);
    let is_extreme = is_zero | size.is_equal(f64::INFINITY);
    let extreme = (is_zero ^ y.is_less(0.0)).select(0.0, f64::INFINITY);
    let result = is_extreme.select(extreme, power);
    let result = result.flip_sign_by(is_odd.select_int(x.sign_bit(), 0));
    let is_real = is_integer | !x.is_less(0.0) | is_extreme;
    let result = (is_real & !x.is_unordered(y)).select(result, f64::NAN);
    (y.is_equal(0.0) | x.is_equal(1.0)).select(1.0, result)
}
