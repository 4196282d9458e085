//! Results rounded down, up, or toward zero: the result to nearest is moved to its neighbour by the sign of its
//! rounding error.

use super::super::formula_builder::{Bool, Real};
use super::float_bits::{next_down, next_up};
use super::left;
use tilewright_kernel::DirectedRounding;

/// Rounds a result in the direction `rounding`, given the result rounded to nearest and a value `left` with the sign of
/// its rounding error. `is_finite` is true if the operands are finite, so that an infinite result comes from overflow.
fn directed<'p>(nearest: Real<'p>, left: Real<'p>, is_finite: Bool<'p>, rounding: DirectedRounding) -> Real<'p> {
    let formula = nearest.formula;
    let is_infinite = nearest.abs().is_equal(f64::INFINITY);
    let inward = formula.real_constant(-1.0).flip_sign_by(nearest.sign_bit());
    let left = is_infinite.select(is_finite.select(inward, 0.0), left);
    let (is_above, is_below) = (formula.real_constant(0.0).is_less(left), left.is_less(0.0));
    let result = match rounding {
        DirectedRounding::Down => is_below.select(next_down(nearest), nearest),
        DirectedRounding::Up => is_above.select(next_up(nearest), nearest),
        DirectedRounding::Zero => {
            let down = is_below & formula.real_constant(0.0).is_less(nearest);
            let up = is_above & nearest.is_less(0.0);
            down.select(next_down(nearest), up.select(next_up(nearest), nearest))
        }
    };
    nearest.is_unordered(nearest).select(f64::NAN, result)
}

fn is_finite(x: Real<'_>) -> Bool<'_> {
    x.abs().is_less(f64::INFINITY)
}

/// Corrects the sign of a sum that is exactly zero: rounded down, it is negative unless both terms are positive (IEEE
/// 754, 6.3). `left` is the rounding error of the sum, and `has_sign` is true if a term has its sign bit set.
fn zero_sum<'p>(sum: Real<'p>, left: Real<'p>, has_sign: Bool<'p>, rounding: DirectedRounding) -> Real<'p> {
    if rounding != DirectedRounding::Down {
        return sum;
    }
    let is_zero = sum.is_equal(0.0) & left.is_equal(0.0);
    (is_zero & has_sign).select(-0.0, sum)
}

/// Returns the sum `x + y`, rounded in the direction `rounding`.
pub(in super::super) fn add<'p>(x: Real<'p>, y: Real<'p>, rounding: DirectedRounding) -> Real<'p> {
    let (sum, left) = left::of_sum(x, y);
    let has_sign = !(x.sign_bit() | y.sign_bit()).is_equal(0);
    directed(zero_sum(sum, left, has_sign, rounding), left, is_finite(x) & is_finite(y), rounding)
}

/// Returns the product `x * y`, rounded in the direction `rounding`.
pub(in super::super) fn multiply<'p>(x: Real<'p>, y: Real<'p>, rounding: DirectedRounding) -> Real<'p> {
    let (product, left) = left::of_product(x, y);
    directed(product, left, is_finite(x) & is_finite(y), rounding)
}

/// Returns the quotient `x / y`, rounded in the direction `rounding`; a nonzero number divided by zero gives infinity.
pub(in super::super) fn divide<'p>(x: Real<'p>, y: Real<'p>, rounding: DirectedRounding) -> Real<'p> {
    let (quotient, left) = left::of_quotient(x, y);
    let left = is_finite(y).select(left, 0.0);
    directed(quotient, left, is_finite(x) & !y.is_equal(0.0), rounding)
}

/// Returns the square root of `x`, rounded in the direction `rounding`.
pub(in super::super) fn root<'p>(x: Real<'p>, rounding: DirectedRounding) -> Real<'p> {
    let (root, left) = left::of_root(x);
    let left = is_finite(x).select(left, 0.0);
    directed(root, left, is_finite(x), rounding)
}

/// Returns `x * y + z`, rounded once, in the direction `rounding`.
pub(in super::super) fn fused<'p>([x, y, z]: [Real<'p>; 3], rounding: DirectedRounding) -> Real<'p> {
    let (result, left) = left::of_fused(x, y, z);
    let has_sign = !((x.sign_bit() ^ y.sign_bit()) | z.sign_bit()).is_equal(0);
    let all_finite = is_finite(x) & is_finite(y) & is_finite(z);
    // An infinite term makes the result exact.
    let left = all_finite.select(left, 0.0);
    directed(zero_sum(result, left, has_sign, rounding), left, all_finite, rounding)
}
