//! The gamma function and the logarithm of its magnitude.
//!
//! For `x` from 3 on, `log(gamma(x))` is Stirling's series, with its main part in double-word arithmetic. From 1/2 to
//! 3, it is the distance `t` from one of its zeros, at 1 and 2, times a polynomial of `t`. Between 0 and 1/2, it is
//! `log(gamma(x + 1)) - log(x)`. The gamma function is the exponential of this logarithm. Below zero, the reflection
//! formula gives both functions: `gamma(-x) = -pi / (x sin(pi x) gamma(x))`.

use super::double_word::DoubleWord;
use super::exponential::{Power, exp_double_word};
use super::formula_builder::{Bool, Real};
use super::logarithm::{log, log_double_word};
use super::tables::constants::{HALF_LOG_TAU, PI};
use super::tables::gamma::{LOG_GAMMA_1, LOG_GAMMA_2, STIRLING};
use super::tables::trigonometric::{COS, SIN};

/// Returns `log(gamma(x))` for `x` from 3 on, by Stirling's series.
fn stirling<'p>(x: Real<'p>) -> DoubleWord<'p> {
    let formula = x.formula;
    let inverse = 1.0 / x;
    let series = inverse * STIRLING.evaluate_polynomial(inverse * inverse);
    let log = log_double_word(x);
    let one_less = DoubleWord::new(log.high.fast_two_sum(-1.0)).plus_smaller(log.low);
    let main = DoubleWord::new([x, formula.real_constant(0.0)]).times(one_less);
    let rest =
        formula.double_word_table_entry(&HALF_LOG_TAU).plus(DoubleWord { high: log.high * -0.5, low: log.low * -0.5 });
    main.plus(rest.plus(DoubleWord::new([series, formula.real_constant(0.0)])))
}

/// Returns the condition `x < 1/2` and, for `x` above 0, a logarithm: `log(gamma(x + 1))` if the condition holds, else
/// `log(gamma(x))`.
fn log_gamma<'p>(x: Real<'p>) -> (Bool<'p>, DoubleWord<'p>) {
    let formula = x.formula;
    let is_less = x.is_less(0.5);
    let is_second = !x.is_less(1.4);
    let t = is_less.select(x, x - is_second.select(2.0, 1.0));
    let near = DoubleWord::product(
        t,
        is_second.select(LOG_GAMMA_2.evaluate_polynomial(t), LOG_GAMMA_1.evaluate_polynomial(t)),
    );
    let is_near = x.is_less(3.0);
    let far = stirling(is_near.select(formula.real_constant(3.0), x));
    let [high, low] = [(near.high, far.high), (near.low, far.low)].map(|(near, far)| is_near.select(near, far));
    (is_less, DoubleWord { high, low })
}

/// Returns the magnitude of `sin(pi x)`, and whether `sin(pi x)` is negative.
fn sin_pi<'p>(x: Real<'p>) -> (DoubleWord<'p>, Bool<'p>) {
    let nearest_integer = x.round_to_nearest();
    let rest = x - nearest_integer;
    let half = nearest_integer * 0.5;
    let is_odd = !half.truncate().is_equal(half);
    let size = rest.abs();
    let is_near = size.is_less(0.25);
    let angle = x
        .formula
        .double_word_table_entry(&PI)
        .times(DoubleWord::new([is_near.select(size, 0.5 - size), x.formula.real_constant(0.0)]));
    let (r, z) = (angle.high, angle.high * angle.high);
    let sine = r.fast_two_sum((r * z).mul_add(SIN.evaluate_polynomial(z), angle.low));
    let cosine = x
        .formula
        .real_constant(1.0)
        .fast_two_sum(z.mul_add(z.mul_add(COS.evaluate_polynomial(z), -0.5), angle.low * -r));
    let [high, low] = [0, 1].map(|index| is_near.select(sine[index], cosine[index]));
    (DoubleWord { high, low }, is_odd ^ rest.is_less(0.0))
}

/// Whether the argument is zero or a negative integer, the poles of the gamma function.
fn is_pole<'p>(x: Real<'p>) -> Bool<'p> {
    x.truncate().is_equal(x) & !x.formula.real_constant(0.0).is_less(x)
}

/// Whether the argument is so near to zero that the gamma function is one over the argument.
fn is_tiny<'p>(x: Real<'p>) -> Bool<'p> {
    x.abs().is_less(x.formula.select_by_type(2f64.powi(-30), 2f64.powi(-60)))
}

/// Returns pi over `divisor`.
fn pi_over<'p>(divisor: DoubleWord<'p>) -> Real<'p> {
    let pi = divisor.high.formula.double_word_table_entry(&PI);
    let quotient = pi.high / divisor.high;
    let left = quotient.mul_add(-divisor.high, pi.high) + quotient.mul_add(-divisor.low, pi.low);
    quotient + left / divisor.high
}

pub(super) fn lgamma<'p>(x: Real<'p>) -> Real<'p> {
    let formula = x.formula;
    // Results for greater magnitudes are infinite.
    let greatest = formula.select_by_type(4.085_003_1e36, 2.559_983_327_851_638_3e305);
    let size = x.abs().clamp(0.0, greatest);
    let (is_less, value) = log_gamma(size);
    let above = value.round() - is_less.select(log(size), 0.0);
    let (sine, _) = sin_pi(size);
    // Both logarithms are large when they cancel.
    let reflected = log_double_word(formula.table_entry(&PI, 0) / (sine.high * is_less.select(1.0, size)));
    let below = reflected.plus(DoubleWord { high: -value.high, low: -value.low }).round();
    let result = x.is_less(0.0).select(below, above);
    let result = is_tiny(x).select(-log(x.abs()), result);
    let result = (is_pole(x) | formula.real_constant(greatest).is_less(x.abs())).select(f64::INFINITY, result);
    x.is_unordered(x).select(f64::NAN, result)
}

pub(super) fn tgamma<'p>(x: Real<'p>) -> Real<'p> {
    let formula = x.formula;
    // Beyond these magnitudes, results are infinite for positive arguments and zero for negative ones.
    let size = x.abs().clamp(0.0, formula.select_by_type(45.0, 190.0));
    let (is_less, value) = log_gamma(size);
    let Power { high, low, exponent } = exp_double_word(value.high, Some(value.low));
    let above = (high + low) / is_less.select(size, 1.0);
    let (sine, is_below) = sin_pi(x.abs());
    let product = sine.times(DoubleWord { high, low });
    let below = pi_over(product.times(DoubleWord::new([is_less.select(1.0, size), formula.real_constant(0.0)])));
    let is_negative = x.is_less(0.0);
    let exponent = is_negative.select_int(formula.int_constant(0) - exponent, exponent);
    let result = is_negative.select(below, above).scale_by_power_of_two(exponent);
    let sign = (is_negative & !is_below).select_int(1 << (formula.float_bits() - 1), 0);
    let result = is_tiny(x).select(1.0 / x, result.flip_sign_by(sign));
    let result = (is_pole(x) & is_negative).select(f64::NAN, result);
    x.is_unordered(x).select(f64::NAN, result)
}
