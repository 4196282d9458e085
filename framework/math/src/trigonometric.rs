//! Sine, cosine, tangent.

use super::angle::{self, Angle};
use super::place::{Real, Word};
use super::tables::trigonometric::{COS, SIN, TAN};

/// The sine of an angle and some quarter turns.
pub(super) fn sine<'p>(angle: &Angle<'p>, turns: u64) -> Real<'p> {
    let (r, quadrant) = (angle.high, angle.quadrant + turns);
    let z = r * r;
    let sine = (r * z).mul_add(SIN.at(z), r);
    let cosine = z.mul_add(z.mul_add(COS.at(z), -0.5), 1.0);
    quadrant.has(1).select(cosine, sine).with_sign_changed(sign_of_half_turn(quadrant))
}

/// A sign bit, where a half turn is in the quadrant.
fn sign_of_half_turn<'p>(quadrant: Word<'p>) -> Word<'p> {
    (quadrant & 2) << (quadrant.place.width() - 2)
}

pub(super) fn sin<'p>(x: Real<'p>) -> Real<'p> {
    // The zeros' signs are lost in sums.
    x.is_equal(0.0).select(x, sine(&angle::reduced(x), 0))
}

pub(super) fn cos<'p>(x: Real<'p>) -> Real<'p> {
    sine(&angle::reduced(x), 1)
}

pub(super) fn tan<'p>(x: Real<'p>) -> Real<'p> {
    let Angle { quadrant, high: r, low } = angle::reduced(x);
    let z = r * r;
    let rest = (r * z) * TAN.at(z);
    let slope = (r + rest).mul_add(r + rest, 1.0);
    let [tangent, left] = r.fast_sum(low.mul_add(slope, rest));
    // A quarter turn on: minus one over both parts.
    let inverse = -1.0 / tangent;
    let error = inverse.mul_add(tangent, 1.0);
    let turned = inverse.mul_add(inverse.mul_add(left, error), inverse);
    x.is_equal(0.0).select(x, quadrant.has(1).select(turned, tangent))
}
