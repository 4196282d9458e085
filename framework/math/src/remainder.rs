//! Remainders: exact.

use super::place::{Real, Word};

/// The remainder of sizes. Where the quotient is less than 2^fraction, its whole part, or one more, is a number, and
/// what it leaves is one too.
pub(super) fn fmod<'p>(x: Real<'p>, y: Real<'p>) -> Real<'p> {
    let place = x.place;
    let (size, divisor) = (x.abs(), y.abs());
    let quotient = size / divisor;
    let most = (1u64 << (place.fraction() - 1)) as f64;
    let is_far = place.number(most).is_less(quotient);
    let (_, [rest]) = place.branch(
        is_far,
        || (place.word(0), [by_mantissas(size, divisor)]),
        || (place.word(0), [near(size, divisor, quotient)]),
    );
    let rest = size.is_less(divisor).select(size, rest);
    let is_defined = size.is_less(f64::INFINITY) & place.number(0.0).is_less(divisor);
    let result = is_defined.select(rest, f64::NAN).with_sign_of(x);
    x.is_unordered(y).select(f64::NAN, result)
}

/// What the nearest whole quotient leaves: a multiple of twice the divisor is taken off, then the divisor once or twice. The
/// differences are exact where they matter.
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

/// The mantissa as an integer, and the exponent of its last bit, both of subnormal numbers too.
fn parts<'p>(size: Real<'p>) -> [Word<'p>; 2] {
    let place = size.place;
    let fraction = place.fraction();
    let field = size.bits() >> fraction;
    let is_subnormal = field.is_equal(0);
    let mantissa = size.bits() & ((1 << fraction) - 1);
    [is_subnormal.select_word(mantissa, mantissa | (1 << fraction)), is_subnormal.select_word(1, field)]
}

/// Long division: as many bits a step as a word has above a mantissa. The greater exponent is the dividend's.
fn by_mantissas<'p>(size: Real<'p>, divisor: Real<'p>) -> Real<'p> {
    let place = size.place;
    let at_once = place.width() - place.fraction() - 1;
    let [mantissa, exponent] = parts(size);
    let [by, by_exponent] = parts(divisor);
    let first = [mantissa % by, exponent - by_exponent];
    let [rest, _] = place.repeat(first, |[rest, left]| {
        let is_last = left.is_less(at_once);
        let shift = is_last.select_word(left, at_once);
        (!is_last, [(rest << shift) % by, left - shift])
    });
    // Its last bit is the divisor's.
    let whole = rest.to_real();
    let shift = by_exponent - (place.bias() + place.fraction());
    whole.scaled(shift)
}
