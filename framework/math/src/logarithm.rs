//! Natural, binary and decimal logarithms.
//!
//! The argument is `(1 + f) * 2^k` with an integer `k` (the variable `e` of the functions) and `1 + f` between
//! sqrt(1/2) and sqrt(2). `ln(1 + f)` is `f`, which is exact, plus a polynomial of smaller magnitude. If the result is
//! a double-word value, `ln(1 + f)` is `2 atanh(f / (2 + f))` instead, whose series converges faster.
//!
//! The result is `ln(1 + f) / ln(base) + k * log_base(2)`. The constant `log_base(2)` is split into a high and a low
//! part, and the high part is so short that `k` times it is exact. Natural and binary logarithms in binary32 need no
//! split: one fused multiply-add or one addition puts the terms together. The binary logarithm of `1 + f` in binary32 is
//! the rounded `log2 e` times `f` plus a polynomial, which makes up for the rounding of the constant.

use super::double_word::DoubleWord;
use super::formula_builder::{Int, Number, Real};
use super::table::ConstantTable;
use super::tables::constants::{LN_2, LOG2_E, LOG10_2, LOG10_E, TWO_THIRDS};
use super::tables::logarithm::{ATANH_TAIL, LOG, LOG1P, LOG2};
use tilewright_kernel::MathFunction;

/// The base of a logarithm. `scale` is the inverse of the base's natural logarithm, `of_two` the logarithm of two to
/// this base; `None` means that the number is 1.
struct Base {
    scale: Option<&'static ConstantTable>,
    of_two: Option<&'static ConstantTable>,
}

const NATURAL: Base = Base { scale: None, of_two: Some(&LN_2) };
const TWO: Base = Base { scale: Some(&LOG2_E), of_two: None };
const TEN: Base = Base { scale: Some(&LOG10_E), of_two: Some(&LOG10_2) };

/// The exponent `k` of a value `(1 + f) * 2^k` with `1 + f` from a minimum on.
struct Exponent<'p> {
    /// `k` times two to the power of the fraction's bits: the difference between the encodings of the value and `1 + f`.
    shift: Int<'p>,
}

impl<'p> Exponent<'p> {
    /// Returns the exponent of a normal value for the minimum with the encoding `min`.
    fn new(x: Real<'p>, min: u64) -> Self {
        let fraction = (1u64 << x.formula.fraction_bits()) - 1;
        Self { shift: (x.to_bits() - min) & !fraction }
    }

    /// Returns `k` times `multiplier` plus `term`. In binary32, the shift converts without an error.
    fn mul_add(&self, multiplier: f64, term: impl Number<'p>) -> Real<'p> {
        let formula = self.shift.formula;
        let fraction = formula.fraction_bits();
        if formula.is_f32() {
            return self.shift.small_to_real().mul_add(multiplier / (1u64 << fraction) as f64, term);
        }
        self.shift.shr_s(fraction).small_to_real().mul_add(multiplier, term)
    }
}

/// Splits a finite positive value `(1 + f) * 2^e`, with `1 + f` between the square roots of 1/2 and 2; returns `(f,
/// e)`.
pub(super) fn reduced<'p>(x: Real<'p>) -> (Real<'p>, Real<'p>) {
    let formula = x.formula;
    let lifted_by = formula.fraction_bits() + 1;
    let is_small = x.is_less(formula.select_by_type(f64::from(f32::MIN_POSITIVE), f64::MIN_POSITIVE));
    let normal = is_small.select(x * (1u64 << lifted_by) as f64, x);
    let exponent = Exponent::new(normal, formula.encode_constant(std::f64::consts::FRAC_1_SQRT_2));
    let fraction = (normal.to_bits() - exponent.shift).as_real();
    (fraction - 1.0, exponent.mul_add(1.0, is_small.select(-(lifted_by as f64), 0.0)))
}

/// Returns the natural logarithm of `(1 + f + small) * 2^e` in binary32. It rounds once for `f` plus the rest, and once
/// for the sum with the exponent's part. The measured error is below 0.97 units in the last place, for all arguments
/// from 1/8 to 8 and every 37th of the others.
fn put_together_single<'p>(f: Real<'p>, small: Option<Real<'p>>, e: Real<'p>) -> Real<'p> {
    let square = f * f;
    let scaled = LOG.evaluate_polynomial(f).mul_add(f, -0.5);
    let fraction = match small {
        None => scaled.mul_add(square, f),
        Some(small) => f + scaled.mul_add(square, small.mul_add(-f, small)),
    };
    e.mul_add(std::f64::consts::LN_2, fraction)
}

/// Returns the binary logarithm of `(1 + f) * 2^e` in binary32. The measured error is below 0.94 units in the last
/// place, for all arguments from 0.7 to 1.42 and every third up to 8.
fn put_together_binary_single<'p>(f: Real<'p>, e: Real<'p>) -> Real<'p> {
    let rest = f * (f * LOG2.evaluate_polynomial(f));
    e + f.mul_add(f.formula.table_entry(&LOG2_E, 0), rest)
}

/// Natural logarithm of `1 + f` as a double-word value: `2 atanh(s)` with `s = f / (2 + f)`.
pub(super) fn log1p_double_word<'p>(f: Real<'p>) -> DoubleWord<'p> {
    let formula = f.formula;
    let [sum, sum_low] = formula.real_constant(2.0).fast_two_sum(f);
    let inverse = 1.0 / sum;
    let quotient = f * inverse;
    let left = quotient.mul_add(-sum_low, quotient.mul_add(-sum, f)) * inverse;
    let s = DoubleWord::new([quotient, left]);
    let square = s.times(s);
    let series = formula
        .double_word_table_entry(&TWO_THIRDS)
        .plus_smaller(square.high * ATANH_TAIL.evaluate_polynomial(square.high));
    let rest = s.times(square).times(series);
    let [high, low] = (s.high * 2.0).fast_two_sum(rest.high);
    DoubleWord { high, low: low + s.low.mul_add(2.0, rest.low) }
}

/// Returns the natural logarithm of a finite positive value, as a double-word value (unevaluated sum of two values).
pub(super) fn log_double_word<'p>(x: Real<'p>) -> DoubleWord<'p> {
    let formula = x.formula;
    let (f, e) = reduced(x);
    let fraction = log1p_double_word(f);
    let [high, low] = (e * formula.table_entry(&LN_2, 0)).fast_two_sum(fraction.high);
    DoubleWord::new(high.fast_two_sum(low + e.mul_add(formula.table_entry(&LN_2, 1), fraction.low)))
}

/// Returns the logarithm of `(1 + f + small) * 2^e` to the base `base`; `None` as `small` means zero.
fn put_together<'p>(f: Real<'p>, small: Option<Real<'p>>, e: Real<'p>, base: &Base) -> Real<'p> {
    let formula = f.formula;
    match (base.scale, base.of_two) {
        (None, _) if formula.is_f32() => return put_together_single(f, small, e),
        (_, None) if formula.is_f32() => return put_together_binary_single(f, e),
        _ => {}
    }
    let square = f * f;
    let rest = (square * f).mul_add(LOG.evaluate_polynomial(f), square * -0.5);
    let rest = small.map_or(rest, |small| small.mul_add(1.0 - f, rest));
    let (high, low) = match base.scale {
        None => (f, rest),
        Some(scale) => {
            let scale = formula.double_word_table_entry(scale);
            let [high, low] = f.two_product(scale.high);
            let square_low = f.mul_add(f, -square);
            let low = (square_low * -0.5).mul_add(scale.high, f.mul_add(scale.low, low));
            (high, rest.mul_add(scale.high, low))
        }
    };
    let (scaled_exponent, low) = match base.of_two {
        None => (e, low),
        Some(of_two) => (e * formula.table_entry(of_two, 0), e.mul_add(formula.table_entry(of_two, 1), low)),
    };
    let [sum, left] = scaled_exponent.fast_two_sum(high);
    sum + (left + low)
}

fn logarithm<'p>(x: Real<'p>, base: &Base) -> Real<'p> {
    let (f, e) = reduced(x);
    with_special(x, put_together(f, None, e, base))
}

/// Returns the logarithm of `x`, which is `result` if `x` is positive and finite.
fn with_special<'p>(x: Real<'p>, result: Real<'p>) -> Real<'p> {
    // Negative numbers, infinity and NaN have the greatest encodings. For them, `x * infinity + infinity` is NaN,
    // infinity and NaN.
    let is_ordinary = x.to_bits().is_less(x.formula.encode_constant(f64::INFINITY));
    let special = x.mul_add(f64::INFINITY, f64::INFINITY);
    x.is_equal(0.0).select(f64::NEG_INFINITY, is_ordinary.select(result, special))
}

pub(super) fn log<'p>(x: Real<'p>) -> Real<'p> {
    logarithm(x, &NATURAL)
}

/// Computes the natural logarithm as `log2(x) ln 2` with the target's `log2`. The error is at most 1.4 times the error
/// of `log2` plus 0.6 units in the last place, also for arguments near one.
pub(super) fn log_by_log2<'p>(x: Real<'p>) -> Real<'p> {
    x.apply_native(MathFunction::Log2) * std::f64::consts::LN_2
}

pub(super) fn log2<'p>(x: Real<'p>) -> Real<'p> {
    logarithm(x, &TWO)
}

pub(super) fn log10<'p>(x: Real<'p>) -> Real<'p> {
    logarithm(x, &TEN)
}

/// Scales one and `x` by the power of two that `1 + x` is divided by, so that `1 + f` has at least the encoding `min`;
/// returns the scaled `x`, the scaled one and the exponent. The sum of the first two is `1 + f`.
fn scale_sum<'p>(x: Real<'p>, min: u64) -> (Real<'p>, Real<'p>, Exponent<'p>) {
    let exponent = Exponent::new(x + 1.0, min);
    let quarter = (x.formula.real_constant(4.0).to_bits() - exponent.shift).as_real();
    ((x.to_bits() - exponent.shift).as_real(), quarter * 0.25, exponent)
}

/// Returns the natural logarithm of `1 + x` for a finite `x` above -1, in binary32. For `1 + f` above 3/4, `f` is exact
/// if `x` is below 1. The measured error is below 0.94 units in the last place, for all arguments from 1/8 to 4 and from
/// -1 to -1/8.
fn log_of_one_and_single<'p>(x: Real<'p>) -> Real<'p> {
    let (scaled, one, exponent) = scale_sum(x, x.formula.encode_constant(0.75) + 1);
    let f = scaled + (one - 1.0);
    let fraction = (f * LOG1P.evaluate_polynomial(f)).mul_add(f, f);
    exponent.mul_add(std::f64::consts::LN_2, fraction)
}

/// Returns the natural logarithm of `1 + x + small` for a finite `x` above -1; `None` as `small` means zero. The
/// rounding error of `f` is kept, unless the function for binary32 needs none.
pub(super) fn log_of_one_and<'p>(x: Real<'p>, small: Option<Real<'p>>) -> Real<'p> {
    let formula = x.formula;
    if formula.is_f32() && small.is_none() {
        return log_of_one_and_single(x);
    }
    let (scaled, one, exponent) = scale_sum(x, formula.encode_constant(std::f64::consts::FRAC_1_SQRT_2));
    let [f, left] = scaled.two_sum(one - 1.0);
    let left = small.map_or(left, |small| small.mul_add(one, left));
    put_together(f, Some(left), exponent.mul_add(1.0, 0.0), &NATURAL)
}

pub(super) fn log1p<'p>(x: Real<'p>) -> Real<'p> {
    with_special(x + 1.0, log_of_one_and(x, None).abs().with_sign_of(x))
}
