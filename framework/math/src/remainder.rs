//! Exact remainders.

use super::formula_builder::{Int, Real};

/// Returns the exact remainder of `x / y`, with the quotient rounded toward zero; it has the sign of `x` (C `fmod`). If
/// the quotient is at most `2^(fraction - 1)`, a fused multiply-add with the truncated quotient gives the remainder, or
/// the remainder minus the divisor. Greater quotients take a long division.
pub(super) fn fmod<'p>(x: Real<'p>, y: Real<'p>) -> Real<'p> {
    let formula = x.formula;
    let (size, divisor) = (x.abs(), y.abs());
    let quotient = size / divisor;
    let most = (1u64 << (formula.fraction() - 1)) as f64;
    let is_far = formula.constant(most).is_less(quotient);
    let (_, [rest]) = formula.branch(
        is_far,
        || (formula.int(0), [by_mantissas(size, divisor)]),
        || (formula.int(0), [near(size, divisor, quotient)]),
    );
    let rest = size.is_less(divisor).select(size, rest);
    let is_defined = size.is_less(f64::INFINITY) & formula.constant(0.0).is_less(divisor);
    let result = is_defined.select(rest, f64::NAN).with_sign_of(x);
    x.is_unordered(y).select(f64::NAN, result)
}

/// Returns the exact remainder of `x / y`, with the quotient rounded to nearest (C `remainder`). It reduces `x` modulo
/// twice the divisor, and then subtracts the divisor up to twice, which is exact.
pub(super) fn remainder<'p>(x: Real<'p>, y: Real<'p>) -> Real<'p> {
    let (size, divisor) = (x.abs(), y.abs());
    let rest = fmod(size, divisor + divisor);
    let once = rest - divisor;
    let twice = once - divisor;
    let rest = (divisor - rest).is_less(rest).select((!once.is_less(divisor - once)).select(twice, once), rest);
    let result = rest.with_sign_changed(x.sign());
    x.is_unordered(y).select(f64::NAN, result)
}

fn near<'p>(size: Real<'p>, divisor: Real<'p>, quotient: Real<'p>) -> Real<'p> {
    let rest = quotient.truncated().mul_add(-divisor, size);
    rest.is_less(0.0).select(rest + divisor, rest)
}

/// Splits a magnitude into its mantissa, as an integer, and its biased exponent field. The field of a subnormal counts
/// as one, so that the last bit of every mantissa has the weight `2^(field - bias - fraction)`.
fn mantissa_and_exponent<'p>(size: Real<'p>) -> [Int<'p>; 2] {
    let formula = size.formula;
    let fraction = formula.fraction();
    let field = size.bits() >> fraction;
    let is_subnormal = field.is_equal(0);
    let mantissa = size.bits() & ((1 << fraction) - 1);
    [is_subnormal.select_int(mantissa, mantissa | (1 << fraction)), is_subnormal.select_int(1, field)]
}

/// Returns the remainder of `size / divisor` by long division of mantissas, for a dividend whose exponent is at least
/// the divisor's. Each step produces as many bits of the quotient as a word has above a mantissa.
fn by_mantissas<'p>(size: Real<'p>, divisor: Real<'p>) -> Real<'p> {
    let formula = size.formula;
    let at_once = formula.width() - formula.fraction() - 1;
    let [mantissa, exponent] = mantissa_and_exponent(size);
    let [by, by_exponent] = mantissa_and_exponent(divisor);
    let first = [mantissa % by, exponent - by_exponent];
    let [rest, _] = formula.while_loop(first, |[rest, left]| {
        let is_last = left.is_less(at_once);
        let shift = is_last.select_int(left, at_once);
        (!is_last, [(rest << shift) % by, left - shift])
    });
    // The last bit of the remainder has the weight of the last bit of the divisor's mantissa.
    let unscaled = rest.to_real();
    let shift = by_exponent - (formula.bias() + formula.fraction());
    unscaled.scaled(shift)
}
