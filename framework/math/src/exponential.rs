//! Exponentials to the bases e, 2 and 10.
//!
//! For the base `b`, the argument is `n log_b(2) + r`, with an integer `n` and a remainder `r` of magnitude at most
//! about `log_b(2) / 2`. The result is `2^n b^r`; a polynomial of `r` gives `b^r`. NaN propagates through the
//! arithmetic; arguments are clamped to the range beyond which results are zero or infinite.

use super::formula_builder::{Int, Real};
use super::natives::Natives;
use super::tables::constants::{LN_2, LOG2_10, LOG2_E, LOG10_2};
use super::tables::exponential::{EXP, EXP2, EXP10};
use tilewright_kernel::MathFunction;

/// An exponential as `(high + low) * 2^exponent`: `high` is between 1/2 and 2, `low` is its rounding error.
pub(super) struct Power<'p> {
    pub high: Real<'p>,
    pub low: Real<'p>,
    pub exponent: Int<'p>,
}

/// Writes `x` as `n * log + r` with an integer `n` and small `r`; returns `(r, n)`. `log` is the logarithm of two to
/// the base of the exponential, as the sum of two numbers, and `per_power` is its inverse.
fn reduced<'p>(x: Real<'p>, per_power: Real<'p>, log: [Real<'p>; 2]) -> (Real<'p>, Int<'p>) {
    let (count, exponent) = x.round_product(per_power);
    let rest = count.mul_add(-log[0], x);
    (count.mul_add(-log[1], rest), exponent)
}

/// Clamps the argument `x` to the range of exponentials that are neither zero nor infinite; `bits` is the binary
/// logarithm of the exponential's base.
fn in_range<'p>(x: Real<'p>, bits: f64) -> Real<'p> {
    let [low, high] = x.formula.select_by_type([-151.0, 129.0], [-1076.0, 1025.0]);
    x.clamp(low / bits, high / bits)
}

/// Returns `e^(x + more)`, where `more` is small (zero for `None`) and `x` within the range of finite nonzero results.
pub(super) fn exp_double_word<'p>(x: Real<'p>, more: Option<Real<'p>>) -> Power<'p> {
    let formula = x.formula;
    let (rest, exponent) =
        reduced(x, formula.table_entry(&LOG2_E, 0), [0, 1].map(|index| formula.table_entry(&LN_2, index)));
    let power = (rest * rest).mul_add(EXP.evaluate_polynomial(rest), rest);
    let [high, low] = formula.real_constant(1.0).fast_two_sum(power);
    let low = more.map_or(low, |more| high.mul_add(more, low));
    Power { high, low, exponent }
}

/// Returns `e^x` for results that are normal numbers, for formulas that need fewer correct bits than the type has. With
/// the target's `exp2`, the rounding error of `x log2 e` is not corrected.
pub(super) fn exp_within<'p>(x: Real<'p>, natives: Natives) -> Real<'p> {
    if natives.exp2 {
        let log = x.formula.table_entry(&LOG2_E, 0);
        return (x * log).apply_native(MathFunction::Exp2);
    }
    let power = exp_double_word(x, None);
    power.high * power.exponent.exp2()
}

pub(super) fn exp<'p>(x: Real<'p>) -> Real<'p> {
    let x = in_range(x, std::f64::consts::LOG2_E);
    let formula = x.formula;
    let (rest, exponent) =
        reduced(x, formula.table_entry(&LOG2_E, 0), [0, 1].map(|index| formula.table_entry(&LN_2, index)));
    let power = (rest * rest).mul_add(EXP.evaluate_polynomial(rest), rest);
    (power + 1.0).scale_by_power_of_two(exponent)
}

/// Computes `e^x` as `2^(x log2 e)` with the target's `exp2`. The rounding error of the product, at most 2^-17 within
/// the range of finite results, is corrected by a factor. That adds at most 1.5 units in the last place to the error of
/// `exp2`.
pub(super) fn exp_by_exp2<'p>(x: Real<'p>) -> Real<'p> {
    let formula = x.formula;
    let x = in_range(x, std::f64::consts::LOG2_E);
    let [log, log_low] = [0, 1].map(|index| formula.table_entry(&LOG2_E, index));
    let product = x * log;
    let error = x.mul_add(log_low, x.mul_add(log, -product));
    product.apply_native(MathFunction::Exp2) * error.mul_add(std::f64::consts::LN_2, 1.0)
}

pub(super) fn exp2<'p>(x: Real<'p>) -> Real<'p> {
    let x = in_range(x, 1.0);
    let (count, exponent) = x.round_product(1.0);
    let rest = x - count;
    rest.mul_add(EXP2.evaluate_polynomial(rest), 1.0).scale_by_power_of_two(exponent)
}

pub(super) fn exp10<'p>(x: Real<'p>) -> Real<'p> {
    let x = in_range(x, std::f64::consts::LOG2_10);
    let formula = x.formula;
    let (rest, exponent) =
        reduced(x, formula.table_entry(&LOG2_10, 0), [0, 1].map(|index| formula.table_entry(&LOG10_2, index)));
    rest.mul_add(EXP10.evaluate_polynomial(rest), 1.0).scale_by_power_of_two(exponent)
}

/// Returns `e^x - 1`. It computes half of the result first, so that large results do not overflow early.
pub(super) fn expm1<'p>(x: Real<'p>) -> Real<'p> {
    let formula = x.formula;
    let [low, high] = formula.select_by_type([-30.0, 89.0], [-60.0, 710.0]);
    let inside = x.clamp(low, high);
    let (rest, exponent) =
        reduced(inside, formula.table_entry(&LOG2_E, 0), [0, 1].map(|index| formula.table_entry(&LN_2, index)));
    let power = (rest * rest).mul_add(EXP.evaluate_polynomial(rest), rest);
    let half = (exponent - 1).exp2();
    let far = power.mul_add(half, half - 0.5) * 2.0;
    // If the exponent is zero, the polynomial is the result, without cancellation. It gets the sign of `x`, so that -0
    // stays -0.
    half.is_equal(0.5).select(power.abs().with_sign_of(x), far)
}
