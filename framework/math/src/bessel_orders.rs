//! Bessel functions of any whole order, by the recurrence that joins three of them (Abramowitz and Stegun, 9.1.27).
//!
//! Upward it loses nothing for those of the second kind, nor for those of the first while the order is less than the argument.
//! Beyond, those of the first kind are found downward from an order where they vanish, and scaled by what the sum of the even ones
//! must be (J. C. P. Miller). Next to zero they are the first term of their series.

use super::bessel::{Order, first, second};
use super::place::{Place, Real, Truth, Word};

/// The size of an order, where it is finite.
fn whole<'p>(order: Real<'p>) -> Word<'p> {
    order.abs().to_word()
}

/// A sign bit, where the order is odd and the condition holds.
fn sign_if<'p>(n: Word<'p>, condition: Truth<'p>) -> Word<'p> {
    let place = n.place;
    (n.has(1) & condition).select_word(1 << (place.width() - 1), 0)
}

/// The function of order `n` from those of the orders 0 and 1, as long as it is finite.
fn upward<'p>(x: Real<'p>, n: Word<'p>, [zero, one]: [Real<'p>; 2]) -> Real<'p> {
    let place = x.place;
    let result = place.repeat_with([place.word(1)], [zero, one], |[k], [before, at]| {
        let is_more = k.is_less(n) & at.abs().is_less(f64::INFINITY);
        let next = (k.to_real() * 2.0 / x).mul_add(at, -before);
        let [before, next] = [is_more.select(at, before), is_more.select(next, at)];
        (is_more, [is_more.select_word(k + 1, k)], [before, next])
    });
    n.is_equal(0).select(zero, result.1[1])
}

/// The function of order `n`, above 1, for a smaller argument that is not next to zero.
fn downward<'p>(x: Real<'p>, n: Word<'p>) -> Real<'p> {
    let place: &'p Place<'p> = x.place;
    let (digits, great) = place.by_type((50.0, 2f64.powi(40)), (200.0, 2f64.powi(300)));
    let start = n + (n.to_real() * digits).sqrt().to_word() + 2;
    let start = start - (start & 1);
    let first = [place.number(0.0), place.number(1.0), place.number(0.0), place.number(0.0)];
    // The orders above and at `k`, the one that is looked for, and the sum of the even ones.
    let (_, [_, zero, found, sum]) = place.repeat_with([start], first, |[k], [above, at, found, sum]| {
        let below = (k.to_real() * 2.0 / x).mul_add(at, -above);
        let found = k.is_equal(n).select(at, found);
        let sum = k.has(1).select(sum + below, sum);
        let scale = place.number(great).is_less(below.abs()).select(1.0 / great, 1.0);
        let k = k - 1;
        (!k.is_equal(0), [k], [at * scale, below * scale, found * scale, sum * scale])
    });
    found / (sum * 2.0 - zero)
}

/// `(x / 2)^n / n!`.
fn first_term<'p>(x: Real<'p>, n: Word<'p>) -> Real<'p> {
    let place = x.place;
    let (_, [term]) = place.repeat_with([place.word(1)], [place.number(1.0)], |[k], [term]| {
        let next = term * (x * 0.5) / k.to_real();
        let is_more = k.is_less(n) & !next.is_equal(0.0);
        (is_more, [k + 1], [next])
    });
    term
}

/// Of the first kind.
pub(super) fn first_of<'p>(order: Real<'p>, x: Real<'p>) -> Real<'p> {
    let place = x.place;
    let n = whole(order);
    let size = x.abs();
    let is_finite = size.is_less(f64::INFINITY);
    let is_far = !size.is_less(n.to_real()) | n.is_less(2);
    let is_tiny = size.is_less(place.by_type(2f64.powi(-12), 2f64.powi(-27)));
    // What another formula gives is not looked for: no loop takes a turn more than it must.
    let steps = |is_used: Truth<'p>, otherwise: u64| (is_used & is_finite).select_word(n, otherwise);
    let far = upward(size, steps(is_far, 0), [first(size, Order::Zero), first(size, Order::One)]);
    let near = downward(is_tiny.select(1.0, size), steps(!is_far & !is_tiny, 2));
    let tiny = first_term(size, steps(!is_far & is_tiny, 1));
    let result = is_far.select(far, is_tiny.select(tiny, near));
    let result = size.is_equal(f64::INFINITY).select(0.0, result);
    let result = result.with_sign_changed(sign_if(n, order.is_less(0.0) ^ x.is_less(0.0)));
    (x.is_unordered(order)).select(f64::NAN, result)
}

/// Of the second kind.
pub(super) fn second_of<'p>(order: Real<'p>, x: Real<'p>) -> Real<'p> {
    let n = whole(order);
    let is_more = x.is_less(f64::INFINITY) & x.place.number(0.0).is_less(x);
    let up = upward(x, is_more.select_word(n, 0), [second(x, Order::Zero), second(x, Order::One)]);
    let result = up.with_sign_changed(sign_if(n, order.is_less(0.0)));
    (x.is_unordered(order) | x.is_less(0.0)).select(f64::NAN, result)
}
