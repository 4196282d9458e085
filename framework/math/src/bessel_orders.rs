//! Bessel functions of any integer order, by the three-term recurrence (Abramowitz and Stegun, 9.1.27).
//!
//! Upward recurrence is stable for the second kind, and for the first kind while the order is less than the argument.
//! For higher orders, downward recurrence computes the first kind: it starts at an order whose value is negligible, and
//! the known sum of the values of even orders normalises the result (J. C. P. Miller). For arguments near zero, the
//! result is the first term of the function's power series.

use super::bessel::{Order, first, second};
use super::formula_builder::{Bool, FormulaBuilder, Int, Real};

/// Converts the magnitude of an integral order to an integer; the result is unspecified for orders that do not fit.
fn order_magnitude<'p>(order: Real<'p>) -> Int<'p> {
    order.abs().to_int()
}

/// Returns an integer with the sign bit set if `n` is odd and the condition holds, else zero.
fn sign_if<'p>(n: Int<'p>, condition: Bool<'p>) -> Int<'p> {
    let formula = n.formula;
    (n.has_any_bit(1) & condition).select_int(1 << (formula.float_bits() - 1), 0)
}

/// Returns the Bessel function of order `n` at `x` by upward recurrence, from its values `zero` of order 0 and `one` of
/// order 1. The recurrence ends early at a value that is not finite, and returns it.
fn upward<'p>(x: Real<'p>, n: Int<'p>, [zero, one]: [Real<'p>; 2]) -> Real<'p> {
    let formula = x.formula;
    let result = formula.emit_loop([formula.int_constant(1)], [zero, one], |[k], [before, at]| {
        let is_more = k.is_less(n) & at.abs().is_less(f64::INFINITY);
        let next = (k.to_real() * 2.0 / x).mul_add(at, -before);
        let [before, next] = [is_more.select(at, before), is_more.select(next, at)];
        (is_more, [is_more.select_int(k + 1, k)], [before, next])
    });
    n.is_equal(0).select(zero, result.1[1])
}

/// Returns the Bessel function of the first kind of an order `n` above 1 by downward recurrence. The argument `x` must
/// be less than `n`, and not near zero.
fn downward<'p>(x: Real<'p>, n: Int<'p>) -> Real<'p> {
    let formula: &'p FormulaBuilder<'p> = x.formula;
    let (digits, great) = formula.select_by_type((50.0, 2f64.powi(40)), (200.0, 2f64.powi(300)));
    let start = n + (n.to_real() * digits).sqrt().to_int() + 2;
    let start = start - (start & 1);
    let first = [
        formula.real_constant(0.0),
        formula.real_constant(1.0),
        formula.real_constant(0.0),
        formula.real_constant(0.0),
    ];
    // Each iteration carries the values of the orders `k + 1` and `k`, the value of order `n` once it is known, and the
    // sum of the even orders. All are multiplied by the same unknown factor.
    let (_, [_, zero, found, sum]) = formula.emit_loop([start], first, |[k], [above, at, found, sum]| {
        let below = (k.to_real() * 2.0 / x).mul_add(at, -above);
        let found = k.is_equal(n).select(at, found);
        let sum = k.has_any_bit(1).select(sum + below, sum);
        let scale = formula.real_constant(great).is_less(below.abs()).select(1.0 / great, 1.0);
        let k = k - 1;
        (!k.is_equal(0), [k], [at * scale, below * scale, found * scale, sum * scale])
    });
    found / (sum * 2.0 - zero)
}

/// Returns the first term of the series of the Bessel function of the first kind: `(x / 2)^n / n!`.
fn first_term<'p>(x: Real<'p>, n: Int<'p>) -> Real<'p> {
    let formula = x.formula;
    let (_, [term]) = formula.emit_loop([formula.int_constant(1)], [formula.real_constant(1.0)], |[k], [term]| {
        let next = term * (x * 0.5) / k.to_real();
        let is_more = k.is_less(n) & !next.is_equal(0.0);
        (is_more, [k + 1], [next])
    });
    term
}

/// Returns the Bessel function of the first kind at `x`, of the order `order`, which is any integer.
pub(super) fn first_of<'p>(order: Real<'p>, x: Real<'p>) -> Real<'p> {
    let formula = x.formula;
    let n = order_magnitude(order);
    let size = x.abs();
    let is_finite = size.is_less(f64::INFINITY);
    let is_far = !size.is_less(n.to_real()) | n.is_less(2);
    let is_tiny = size.is_less(formula.select_by_type(2f64.powi(-12), 2f64.powi(-27)));
    // Formulas whose result is not selected get the small order `otherwise`, so that no loop runs longer than
    // necessary.
    let steps = |is_used: Bool<'p>, otherwise: u64| (is_used & is_finite).select_int(n, otherwise);
    let far = upward(size, steps(is_far, 0), [first(size, Order::Zero), first(size, Order::One)]);
    let near = downward(is_tiny.select(1.0, size), steps(!is_far & !is_tiny, 2));
    let tiny = first_term(size, steps(!is_far & is_tiny, 1));
    let result = is_far.select(far, is_tiny.select(tiny, near));
    let result = size.is_equal(f64::INFINITY).select(0.0, result);
    let result = result.flip_sign_by(sign_if(n, order.is_less(0.0) ^ x.is_less(0.0)));
    (x.is_unordered(order)).select(f64::NAN, result)
}

/// Returns the Bessel function of the second kind at `x`, of the order `order`, which is any integer.
pub(super) fn second_of<'p>(order: Real<'p>, x: Real<'p>) -> Real<'p> {
    let n = order_magnitude(order);
    let is_more = x.is_less(f64::INFINITY) & x.formula.real_constant(0.0).is_less(x);
    let up = upward(x, is_more.select_int(n, 0), [second(x, Order::Zero), second(x, Order::One)]);
    let result = up.flip_sign_by(sign_if(n, order.is_less(0.0)));
    (x.is_unordered(order) | x.is_less(0.0)).select(f64::NAN, result)
}
