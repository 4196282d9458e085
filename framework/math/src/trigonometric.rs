//! Sine, cosine, tangent.

use super::angle::{self, Angle};
use super::formula_builder::{Int, Real};
use super::tables::trigonometric::{COS, SIN, TAN};

/// Returns the sine of `angle + quarters * pi / 2`; `quarters` is 1 for the cosine.
pub(super) fn sine<'p>(angle: &Angle<'p>, quarters: u64) -> Real<'p> {
    let (r, quadrant) = (angle.high, angle.quadrant + quarters);
    let z = r * r;
    let sine = (r * z).mul_add(SIN.evaluate_polynomial(z), r);
    let cosine = z.mul_add(z.mul_add(COS.evaluate_polynomial(z), -0.5), 1.0);
    quadrant.has_any_bit(1).select(cosine, sine).flip_sign_by(sign_of_quadrant(quadrant))
}

/// Returns an integer with the sign of the sine in this quadrant: the highest bit is set if the sine is negative there;
/// all other bits are zero.
fn sign_of_quadrant<'p>(quadrant: Int<'p>) -> Int<'p> {
    (quadrant & 2) << (quadrant.formula.float_bits() - 2)
}

pub(super) fn sin<'p>(x: Real<'p>) -> Real<'p> {
    // The additions of the formula lose the sign of a zero.
    x.is_equal(0.0).select(x, sine(&angle::reduced(x), 0))
}

pub(super) fn cos<'p>(x: Real<'p>) -> Real<'p> {
    sine(&angle::reduced(x), 1)
}

pub(super) fn tan<'p>(x: Real<'p>) -> Real<'p> {
    let Angle { quadrant, high: r, low } = angle::reduced(x);
    let z = r * r;
    let rest = (r * z) * TAN.evaluate_polynomial(z);
    let slope = (r + rest).mul_add(r + rest, 1.0);
    let [tangent, left] = r.fast_two_sum(low.mul_add(slope, rest));
    // In odd quadrants, the result is minus one over the tangent, which is `tangent + left`.
    let inverse = -1.0 / tangent;
    let error = inverse.mul_add(tangent, 1.0);
    let odd = inverse.mul_add(inverse.mul_add(left, error), inverse);
    x.is_equal(0.0).select(x, quadrant.has_any_bit(1).select(odd, tangent))
}
