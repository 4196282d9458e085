//! Bessel functions of orders 0 and 1, of the first and second kind, and modified Bessel functions of the first kind.
//!
//! For arguments up to 2, they are polynomials of the argument's square, plus a logarithm for the second kind; from 2
//! to 8, polynomials around 3, 5 and 7; beyond, waves of slowly varying amplitude and phase (Abramowitz and Stegun,
//! 9.2.5). Near zeros of the functions, errors are small relative to the wave's amplitude, not to the result.
//!
//! Modified functions are polynomials of the argument's square for arguments up to 8, and beyond an exponential over a
//! square root.

use super::angle;
use super::exponential::exp_double_word;
use super::formula_builder::Real;
use super::logarithm::log;
use super::table::ConstantTable;
use super::tables::bessel::{
    J0_AT_3, J0_AT_5, J0_AT_7, J0_NEAR, J1_AT_3, J1_AT_5, J1_AT_7, J1_NEAR, Y0_AT_3, Y0_AT_5, Y0_AT_7, Y0_NEAR,
    Y1_AT_3, Y1_AT_5, Y1_AT_7, Y1_NEAR,
};
use super::tables::bessel_far::{P0, P1, Q0, Q1};
use super::tables::modified_bessel::{I0_FAR, I0_NEAR, I1_FAR, I1_NEAR};
use super::trigonometric::sine;

/// The order of a Bessel function: zero or one.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Order {
    Zero,
    One,
}

use Order::{One, Zero};

impl Order {
    /// Returns `zero` for order zero, `one` for order one.
    fn of<T>(self, zero: T, one: T) -> T {
        if self == Zero { zero } else { one }
    }
}

/// One over the square root of pi.
const ROOT_OF_INVERSE_PI: f64 = 0.564_189_583_547_756_3;
/// Two over pi.
const TWO_OVER_PI: f64 = std::f64::consts::FRAC_2_PI;

/// Returns the Bessel function of the first kind and of this order at `size`, which is from 0 to 2.
fn first_near<'p>(size: Real<'p>, order: Order) -> Real<'p> {
    let square = size * size;
    let near = order.of(&J0_NEAR, &J1_NEAR).evaluate_polynomial(square);
    if order == One { size * near } else { near }
}

/// Returns the Bessel function of the second kind and of this order at `size`, which is above 0 and at most 2.
fn second_near<'p>(size: Real<'p>, order: Order) -> Real<'p> {
    let square = size * size;
    let wave = log(size) * first_near(size, order);
    match order {
        Zero => wave.mul_add(TWO_OVER_PI, Y0_NEAR.evaluate_polynomial(square)),
        One => wave.mul_add(TWO_OVER_PI, size * Y1_NEAR.evaluate_polynomial(square)) - TWO_OVER_PI / size,
    }
}

/// Evaluates a Bessel function for an argument `size` from 2 to 8 by the polynomial `pieces` around 3, 5 or 7,
/// whichever is nearest.
fn between<'p>(size: Real<'p>, pieces: [&ConstantTable; 3]) -> Real<'p> {
    let (is_first, is_second) = (size.is_less(4.0), size.is_less(6.0));
    let middle = is_first.select(3.0, is_second.select(5.0, size.formula.real_constant(7.0)));
    ConstantTable::evaluate_piecewise(size - middle, &[(is_first, pieces[0]), (is_second, pieces[1])], pieces[2])
}

/// The values from which Bessel functions of both kinds are computed for arguments `x` from 8 on (Abramowitz and
/// Stegun, 9.2.5): the slowly varying functions P and Q, and a sine wave. `amplitude` is `1 / sqrt(pi x)`; the
/// remaining factor sqrt(2) of the wave's amplitude is in `sum` and `difference`.
struct Wave<'p> {
    p: Real<'p>,
    q: Real<'p>,
    /// Sine plus cosine of the Bessel function's argument; `difference` is sine minus cosine.
    sum: Real<'p>,
    difference: Real<'p>,
    amplitude: Real<'p>,
}

impl<'p> Wave<'p> {
    fn of(size: Real<'p>, order: Order) -> Self {
        let inverse = 1.0 / size;
        let t = (inverse * inverse).mul_add(128.0, -1.0);
        let (p, q) = (order.of(&P0, &P1).evaluate_polynomial(t), order.of(&Q0, &Q1).evaluate_polynomial(t) * inverse);
        let angle = angle::reduced(size);
        let (sin, cos) = (sine(&angle, 0), sine(&angle, 1));
        let amplitude = ROOT_OF_INVERSE_PI / size.sqrt();
        Self { p, q, sum: cos + sin, difference: sin - cos, amplitude }
    }

    /// Returns the function of the first kind: `sqrt(2 / (pi x)) (p cos(a) - q sin(a))`. The angle `a` is the argument
    /// `x` minus pi / 4 (order 0) or 3 pi / 4 (order 1).
    fn first(&self, order: Order) -> Real<'p> {
        let (cos, sin) = order.of((self.sum, self.difference), (self.difference, -self.sum));
        self.p.mul_add(cos, -(self.q * sin)) * self.amplitude
    }

    /// Returns the function of the second kind: `sqrt(2 / (pi x)) (p sin(a) + q cos(a))`, with `a` as for the first
    /// kind.
    fn second(&self, order: Order) -> Real<'p> {
        let (cos, sin) = order.of((self.sum, self.difference), (self.difference, -self.sum));
        self.p.mul_add(sin, self.q * cos) * self.amplitude
    }
}

/// Selects the result by the argument `size`: `near` below 2, `between` below 8, else `far`. The result for an infinite
/// argument is zero.
fn put_together<'p>(size: Real<'p>, near: Real<'p>, between: Real<'p>, far: Real<'p>) -> Real<'p> {
    let far = size.is_equal(f64::INFINITY).select(0.0, far);
    size.is_less(2.0).select(near, size.is_less(8.0).select(between, far))
}

/// Returns the Bessel function of the first kind and of this order at `x`.
pub(super) fn first<'p>(x: Real<'p>, order: Order) -> Real<'p> {
    let size = x.abs();
    let pieces = order.of([&J0_AT_3, &J0_AT_5, &J0_AT_7], [&J1_AT_3, &J1_AT_5, &J1_AT_7]);
    let far = Wave::of(size, order).first(order);
    let result = put_together(size, first_near(size, order), between(size, pieces), far);
    if order == One { result.flip_sign_by(x.sign_bit()) } else { result }
}

/// Returns the Bessel function of the second kind at `x`: minus infinity at zero, NaN below zero.
pub(super) fn second<'p>(x: Real<'p>, order: Order) -> Real<'p> {
    let pieces = order.of([&Y0_AT_3, &Y0_AT_5, &Y0_AT_7], [&Y1_AT_3, &Y1_AT_5, &Y1_AT_7]);
    let far = Wave::of(x, order).second(order);
    let result = put_together(x, second_near(x, order), between(x, pieces), far);
    let result = x.is_equal(0.0).select(f64::NEG_INFINITY, result);
    x.is_less(0.0).select(f64::NAN, result)
}

/// Returns the modified Bessel function of the first kind and of this order at `x`.
pub(super) fn modified<'p>(x: Real<'p>, order: Order) -> Real<'p> {
    let formula = x.formula;
    let size = x.abs();
    let square = size * size;
    let near = order.of(&I0_NEAR, &I1_NEAR).evaluate_polynomial(square);
    let near = if order == One { size * near } else { near };
    // Results for greater magnitudes are infinite.
    let inside = size.clamp(8.0, formula.select_by_type(100.0, 720.0));
    let over = order.of(&I0_FAR, &I1_FAR).evaluate_polynomial(16.0 / inside - 1.0) / inside.sqrt();
    let power = exp_double_word(inside, None);
    let far = power.high.mul_add(over, power.low * over).scale_by_power_of_two(power.exponent);
    let result = size.is_less(8.0).select(near, far);
    if order == One { result.flip_sign_by(x.sign_bit()) } else { result }
}
