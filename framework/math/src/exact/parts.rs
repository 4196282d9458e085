//! Numbers as a sign, an exponent and a fraction.

use super::super::place::{Real, Word};

/// A number as a mantissa of its sign, from one to below two, and its exponent. Of zero, infinity and NaN both are something.
pub(super) fn split<'p>(x: Real<'p>) -> (Real<'p>, Word<'p>) {
    let place = x.place;
    let (lift, least) = place.by_type((32, f64::from(f32::MIN_POSITIVE)), (64, f64::MIN_POSITIVE));
    let is_small = x.abs().is_less(least);
    let bits = is_small.select(x * 2f64.powi(lift), x).bits();
    let fields = place.by_type(0xff, 0x7ff);
    let exponent =
        ((bits >> place.fraction()) & fields) - is_small.select_word(place.bias() + lift as u64, place.bias());
    let mantissa = (bits & !(fields << place.fraction())) | (place.bias() << place.fraction());
    (mantissa.as_real(), exponent)
}

/// The lesser of two integers with signs, which lie within 2^20 of zero.
pub(super) fn least<'p>(a: Word<'p>, b: Word<'p>) -> Word<'p> {
    let lifted = |word: Word<'p>| word + (1 << 20);
    lifted(a).is_less(lifted(b)).select_word(a, b)
}

/// The greater of two such integers.
pub(super) fn greatest<'p>(a: Word<'p>, b: Word<'p>) -> Word<'p> {
    let lifted = |word: Word<'p>| word + (1 << 20);
    lifted(a).is_less(lifted(b)).select_word(b, a)
}

/// The next number above, of one that is no NaN.
pub(super) fn next_up<'p>(x: Real<'p>) -> Real<'p> {
    let place = x.place;
    // No zero has a sign.
    let bits = (x + 0.0).bits();
    let sign = bits >> (place.width() - 1);
    // One more above zero, one less below.
    let next = bits + 1 - (sign << 1);
    x.is_equal(f64::INFINITY).select(x, next.as_real())
}

/// The next number below, of one that is no NaN.
pub(super) fn next_down<'p>(x: Real<'p>) -> Real<'p> {
    -next_up(-x)
}

/// The next number from the first toward the second; the second where they are equal.
pub(in super::super) fn next_after<'p>(x: Real<'p>, y: Real<'p>) -> Real<'p> {
    let moved = x.is_less(y).select(next_up(x), next_down(x));
    let result = x.is_equal(y).select(y, moved);
    x.is_unordered(y).select(f64::NAN, result)
}

/// The exponent, as a number.
pub(in super::super) fn logb<'p>(x: Real<'p>) -> Real<'p> {
    let (_, exponent) = split(x);
    let result = x.is_equal(0.0).select(f64::NEG_INFINITY, exponent.small_to_real());
    let size = x.abs();
    // Infinity has its own; a NaN stays one.
    size.is_less(f64::INFINITY).select(result, size)
}

/// The first times two to the power of the second, a whole number, rounded once.
pub(in super::super) fn scaled_by<'p>(x: Real<'p>, n: Real<'p>) -> Real<'p> {
    let place = x.place;
    let (mantissa, exponent) = split(x);
    let far = place.by_type(400.0, 2400.0);
    let exponent = exponent + n.clamped(-far, far).to_word();
    // Beyond, results are zero or infinite anyway. One step is exact, the other rounds.
    let (most, step) = place.by_type((190, 64), (1150, 128));
    let zero = place.word(0);
    let exponent = least(greatest(exponent, zero - most), place.word(most));
    let is_negative = (exponent >> (place.width() - 1)).is_equal(1);
    let second = is_negative.select_word(zero - step, step);
    let far = mantissa * (exponent - second).power_of_two() * second.power_of_two();
    // In the range of normal numbers a step too many would be too far.
    let is_near = (exponent + (place.bias() - 1)).is_less(2 * place.bias());
    let result = is_near.select(mantissa * exponent.power_of_two(), far);
    let is_itself = x.is_equal(0.0) | !x.abs().is_less(f64::INFINITY);
    let result = is_itself.select(x + x, result);
    n.is_unordered(n).select(n, result)
}
