//! Logarithms.
//!
//! The argument is `(1 + f) * 2^e` with `1 + f` between the square roots of 1/2 and 2. `log(1 + f)` is `f`, which is
//! exact, and a polynomial of less weight; the base's multiple of `e` is added in two parts.

use super::double_word::DoubleWord;
use super::place::{Place, Real, Word};
use super::table::Table;
use super::tables::constants::{LN_2, LOG2_E, LOG10_2, LOG10_E, TWO_THIRDS};
use super::tables::logarithm::{ATANH_TAIL, LOG};

/// A base: what natural logarithms are multiplied by, where that is not one, and the logarithm of two, where not one.
struct Base {
    unit: Option<&'static Table>,
    of_two: Option<&'static Table>,
}

const NATURAL: Base = Base { unit: None, of_two: Some(&LN_2) };
const TWO: Base = Base { unit: Some(&LOG2_E), of_two: None };
const TEN: Base = Base { unit: Some(&LOG10_E), of_two: Some(&LOG10_2) };

/// Bits of the square root of one half: what the fraction begins with.
fn least<'p>(place: &'p Place<'p>) -> u64 {
    place.bits_of(std::f64::consts::FRAC_1_SQRT_2)
}

/// How many powers of two are in a normal number.
fn exponent_of<'p>(x: Real<'p>) -> Word<'p> {
    (x.bits() - least(x.place)).shr_s(x.place.fraction())
}

/// `f` and `e` of a finite number above zero.
pub(super) fn reduced<'p>(x: Real<'p>) -> (Real<'p>, Real<'p>) {
    let place = x.place;
    let lifted_by = place.fraction() + 1;
    let is_small = x.is_less(place.by_type(f64::from(f32::MIN_POSITIVE), f64::MIN_POSITIVE));
    let normal = is_small.select(x * (1u64 << lifted_by) as f64, x);
    let exponent = exponent_of(normal);
    let fraction = (normal.bits() - (exponent << place.fraction())).as_real();
    (fraction - 1.0, (exponent - is_small.select_word(lifted_by, 0)).small_to_real())
}

/// The natural logarithm of `1 + f`, with twice the digits: with `s = f / (2 + f)` it is `2 atanh(s)`.
pub(super) fn parts_of_one_and<'p>(f: Real<'p>) -> DoubleWord<'p> {
    let place = f.place;
    let [sum, sum_low] = place.number(2.0).fast_sum(f);
    let inverse = 1.0 / sum;
    let quotient = f * inverse;
    let left = quotient.mul_add(-sum_low, quotient.mul_add(-sum, f)) * inverse;
    let s = DoubleWord::new([quotient, left]);
    let square = s.times(s);
    let factor = place.parts(&TWO_THIRDS).and_less(square.high * ATANH_TAIL.at(square.high));
    let rest = s.times(square).times(factor);
    let [high, low] = (s.high * 2.0).fast_sum(rest.high);
    DoubleWord { high, low: low + s.low.mul_add(2.0, rest.low) }
}

/// The natural logarithm of a finite number above zero, with twice the digits.
pub(super) fn log_parts<'p>(x: Real<'p>) -> DoubleWord<'p> {
    let place = x.place;
    let (f, e) = reduced(x);
    let fraction = parts_of_one_and(f);
    let [high, low] = (e * place.entry(&LN_2, 0)).fast_sum(fraction.high);
    DoubleWord::new(high.fast_sum(low + e.mul_add(place.entry(&LN_2, 1), fraction.low)))
}

/// The logarithm of `(1 + f + small) * 2^e`.
fn put_together<'p>(f: Real<'p>, small: Option<Real<'p>>, e: Real<'p>, base: &Base) -> Real<'p> {
    let place = f.place;
    let square = f * f;
    let rest = (square * f).mul_add(LOG.at(f), square * -0.5);
    let rest = small.map_or(rest, |small| small.mul_add(1.0 - f, rest));
    let (high, low) = match base.unit {
        None => (f, rest),
        Some(unit) => {
            let unit = place.parts(unit);
            let [high, low] = f.two_product(unit.high);
            let square_low = f.mul_add(f, -square);
            let low = (square_low * -0.5).mul_add(unit.high, f.mul_add(unit.low, low));
            (high, rest.mul_add(unit.high, low))
        }
    };
    let (whole, low) = match base.of_two {
        None => (e, low),
        Some(of_two) => (e * place.entry(of_two, 0), e.mul_add(place.entry(of_two, 1), low)),
    };
    let [sum, left] = whole.fast_sum(high);
    sum + (left + low)
}

fn logarithm<'p>(x: Real<'p>, base: &Base) -> Real<'p> {
    let place = x.place;
    let (f, e) = reduced(x);
    let result = put_together(f, None, e, base);
    let is_ordinary = place.number(0.0).is_less(x) & x.is_less(f64::INFINITY);
    let special = x.is_less(0.0).select(f64::NAN, x);
    let special = x.is_equal(0.0).select(f64::NEG_INFINITY, special);
    is_ordinary.select(result, special)
}

pub(super) fn log<'p>(x: Real<'p>) -> Real<'p> {
    logarithm(x, &NATURAL)
}

pub(super) fn log2<'p>(x: Real<'p>) -> Real<'p> {
    logarithm(x, &TWO)
}

pub(super) fn log10<'p>(x: Real<'p>) -> Real<'p> {
    logarithm(x, &TEN)
}

/// `log(1 + x + small)` for a finite `x` above -1. Both terms are scaled before they are added, and what the sum's
/// rounding leaves is kept.
pub(super) fn log_of_one_and<'p>(x: Real<'p>, small: Option<Real<'p>>) -> Real<'p> {
    let place = x.place;
    let exponent = exponent_of(x + 1.0);
    let shift = exponent << place.fraction();
    let quarter = (place.number(4.0).bits() - shift).as_real();
    let [f, left] = (x.bits() - shift).as_real().two_sum(quarter.mul_add(0.25, -1.0));
    let left = small.map_or(left, |small| small.mul_add(quarter * 0.25, left));
    put_together(f, Some(left), exponent.small_to_real(), &NATURAL)
}

pub(super) fn log1p<'p>(x: Real<'p>) -> Real<'p> {
    let place = x.place;
    let result = log_of_one_and(x, None).abs().with_sign_of(x);
    let is_ordinary = place.number(-1.0).is_less(x) & x.is_less(f64::INFINITY);
    let special = x.is_less(-1.0).select(f64::NAN, x);
    let special = x.is_equal(-1.0).select(f64::NEG_INFINITY, special);
    is_ordinary.select(result, special)
}
