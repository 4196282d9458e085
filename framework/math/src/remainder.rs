//! Exact remainders.

use super::formula_builder::{Int, Real};
use super::natives::Natives;

/// Returns the exact remainder of `x / y`, with the quotient rounded toward zero; it has the sign of `x` (C `fmod`).
///
/// A result from one division is exact if it is at least zero and less than the divisor: it then differs from `x` by a
/// multiple of `y`, without rounding, since it is a multiple of the last bit of `x` or `y`. Other operands (large
/// quotients, subnormal divisors, zeros, infinities and NaN) take the branch with the loop.
pub(super) fn fmod<'p>(x: Real<'p>, y: Real<'p>, natives: Natives) -> Real<'p> {
    let formula = x.formula;
    let (size, divisor) = (x.abs(), y.abs());
    let (quotient, _) = natives.quotient(size, divisor).round_product(1.0);
    let rest = quotient.mul_add(-divisor, size);
    let rest = rest.is_less(0.0).select(rest + divisor, rest);
    let is_exact = !rest.is_less(0.0) & rest.is_less(divisor);
    let zero = formula.int_constant(0);
    let (_, [rest]) =
        formula.emit_branch(is_exact, || (zero, [rest]), || (zero, [subtract_multiples(size, divisor, natives)]));
    rest.with_sign_of(x)
}

/// Returns the exact remainder of two numbers without signs. A loop subtracts multiples of the divisor. A subnormal
/// divisor is lifted to a normal number: the loop reduces the dividend modulo the lifted divisor, lifts the rest too,
/// and reduces it once more. NaN ends the loop.
fn subtract_multiples<'p>(x: Real<'p>, divisor: Real<'p>, natives: Natives) -> Real<'p> {
    let formula = x.formula;
    let is_subnormal = divisor.is_less(formula.select_by_type(f64::from(f32::MIN_POSITIVE), f64::MIN_POSITIVE));
    let most = (1u64 << (formula.fraction_bits() + 1)) as f64;
    let lift = is_subnormal.select(most, 1.0);
    let base = divisor.is_equal(0.0).select(f64::NAN, divisor * lift);
    let ([], [rest, lift]) = formula.emit_loop([], [x, lift], |[]: [Int<'p>; 0], [rest, lift]| {
        let is_below = rest.is_less(base);
        let next = is_below.select(rest * lift, less_multiple(rest, base, natives));
        let left = is_below.select(1.0, lift);
        (base.is_at_most(next * left), [], [next, left])
    });
    rest * lift * is_subnormal.select(1.0 / most, 1.0)
}

/// Returns the exact remainder of `x / y`, with the quotient rounded to nearest (C `remainder`). It reduces `x` modulo
/// twice the divisor, and then subtracts the divisor up to twice, which is exact.
pub(super) fn remainder<'p>(x: Real<'p>, y: Real<'p>, natives: Natives) -> Real<'p> {
    let (size, divisor) = (x.abs(), y.abs());
    let rest = fmod(size, divisor + divisor, natives);
    let once = rest - divisor;
    let twice = once - divisor;
    let rest = (divisor - rest).is_less(rest).select((!once.is_less(divisor - once)).select(twice, once), rest);
    let result = rest.flip_sign_by(x.sign_bit());
    x.is_unordered(y).select(f64::NAN, result)
}

/// Returns the remainder of `rest`, which is at least `base`, by `base` times a power of two. The power is 1 if the
/// quotient of `rest` and `base` has at most `fraction - 4` bits; otherwise it is the one that leaves the quotient that
/// many bits, so that the caller must call again. The quotient's error is then below 1/4: its nearest integer is the
/// truncated quotient or one more, and the difference is exact.
fn less_multiple<'p>(rest: Real<'p>, base: Real<'p>, natives: Natives) -> Real<'p> {
    let formula = rest.formula;
    let fraction = formula.fraction_bits();
    let most = (fraction - 4) << fraction;
    let above = (rest.to_bits() - base.to_bits()).max_s(most) & (u64::MAX << fraction);
    let divisor = (base.to_bits() + (above - most)).as_real();
    let (quotient, _) = natives.quotient(rest, divisor).round_product(1.0);
    let next = quotient.mul_add(-divisor, rest);
    next.is_less(0.0).select(next + divisor, next)
}
