//! Reference results: the host's in binary64, series for functions that it lacks, and the error of a result.

use tilewright_kernel::{Element, MathFunction};

/// An exact result, or one with many more digits than the measured type, as an unevaluated sum.
#[derive(Debug, Clone, Copy)]
pub struct ReferenceValue {
    pub high: f64,
    pub low: f64,
}

/// Returns the base-2 logarithm of the unit in the last place of a value in the element type.
fn last_digit(value: f64, element: Element) -> i32 {
    let (digits, least) = if element == Element::F32 { (23, -149) } else { (52, -1074) };
    let greatest = if element == Element::F32 { 127 } else { 1023 };
    let field = (value.abs().to_bits() >> 52) as i32;
    let exponent = if field == 0 { -1074 } else { field - 1023 };
    (exponent.min(greatest) - digits).max(least)
}

/// Divides a value by two to the power of `exponent`; the quotient may be subnormal.
fn over(value: f64, exponent: i32) -> f64 {
    let half = -exponent / 2;
    value * 2f64.powi(half) * 2f64.powi(-exponent - half)
}

/// The error of a result, given by its bits, in units in the last place, or in units of 2^`ulp_exponent` if that is
/// greater. Infinite if a NaN, an infinity or a sign is wrong.
pub fn error(found: u64, reference: ReferenceValue, element: Element, ulp_exponent: i32) -> f64 {
    let (found, greatest) = match element {
        Element::F32 => (f64::from(f32::from_bits(found as u32)), 2f64.powi(128)),
        _ => (f64::from_bits(found), f64::INFINITY),
    };
    let ReferenceValue { high, low } = reference;
    if high.is_nan() || found.is_nan() {
        return if high.is_nan() && found.is_nan() { 0.0 } else { f64::INFINITY };
    }
    if found.is_sign_negative() != high.is_sign_negative() {
        return f64::INFINITY;
    }
    if high.abs() >= greatest && found.is_infinite() {
        return 0.0;
    }
    // Beyond the greatest finite value, infinity stands for the next value of an extended exponent range.
    let found = if found.is_infinite() { greatest.copysign(found) } else { found };
    if high == 0.0 {
        return if found == 0.0 { 0.0 } else { f64::INFINITY };
    }
    let ulp_exponent = last_digit(high, element).max(ulp_exponent);
    (over(found - high, ulp_exponent) - over(low, ulp_exponent)).abs()
}

/// Returns the base-2 logarithm of the smallest unit that measures the function's error at `x`; -1074 if its bound sets
/// none. Near a zero of the function, a unit in the last place of the result would be smaller.
pub fn min_ulp_exponent(function: MathFunction, element: Element, x: f64) -> i32 {
    let is_wave = (MathFunction::BesselJ0..=MathFunction::BesselYn).contains(&function);
    match function {
        MathFunction::Lgamma if x < 0.0 => last_digit(1.0, element),
        _ if is_wave && x.abs() >= 0.5 => last_digit((2.0 / (std::f64::consts::PI * x.abs())).sqrt().min(0.5), element),
        _ => -1074,
    }
}

/// The value of a function in binary64, accurate to many more digits than binary32 has.
pub fn host(function: MathFunction, x: f64, y: f64) -> f64 {
    match function {
        MathFunction::Exp => x.exp(),
        MathFunction::Exp2 => x.exp2(),
        MathFunction::Exp10 => 10f64.powf(x),
        MathFunction::Expm1 => x.exp_m1(),
        MathFunction::Log => x.ln(),
        MathFunction::Log2 => x.log2(),
        MathFunction::Log10 => x.log10(),
        MathFunction::Log1p => x.ln_1p(),
        MathFunction::Sin => x.sin(),
        MathFunction::Cos => x.cos(),
        MathFunction::Tan => x.tan(),
        MathFunction::Asin => x.asin(),
        MathFunction::Acos => x.acos(),
        MathFunction::Atan => x.atan(),
        MathFunction::Atan2 => x.atan2(y),
        MathFunction::Sinh => x.sinh(),
        MathFunction::Cosh => x.cosh(),
        MathFunction::Tanh => x.tanh(),
        MathFunction::Asinh => x.asinh(),
        MathFunction::Acosh => x.acosh(),
        MathFunction::Atanh => x.atanh(),
        MathFunction::Erf => erf(x),
        MathFunction::Erfc => erfc(x),
        MathFunction::Pow => x.powf(y),
        MathFunction::Cbrt => x.cbrt(),
        MathFunction::Rsqrt => 1.0 / x.sqrt(),
        MathFunction::Sqrt => x.sqrt(),
        MathFunction::Div => x / y,
        MathFunction::Hypot => x.hypot(y),
        MathFunction::Fmod => x % y,
        MathFunction::Lgamma => log_gamma(x),
        MathFunction::Tgamma => gamma(x),
        exact => panic!("{} is defined bit for bit", exact.name()),
    }
}

/// The error function by its series near zero (Abramowitz and Stegun, 7.1.6, all terms of one sign).
fn erf(x: f64) -> f64 {
    if x.abs() > 3.0 {
        return (1.0 - erfc(x.abs())).copysign(x);
    }
    let (mut term, mut sum) = (x, x);
    for n in 1..200 {
        term *= 2.0 * x * x / f64::from(2 * n + 1);
        sum += term;
    }
    (2.0 / std::f64::consts::PI.sqrt() * (-x * x).exp() * sum).abs().copysign(x)
}

/// The complementary error function by its continued fraction from 1 on (Abramowitz and Stegun, 7.1.14).
fn erfc(x: f64) -> f64 {
    if x.is_nan() || x.is_infinite() {
        return if x.is_nan() { x } else { 1.0 - 1f64.copysign(x) };
    }
    if x < 1.0 {
        return 1.0 - erf(x);
    }
    let fraction = (1..500).rev().fold(x, |rest, n| x + f64::from(n) / 2.0 / rest);
    // Corrects the rounding error of the square, which the exponential would amplify.
    let rest = x.mul_add(x, -(x * x));
    (-(x * x)).exp() * (1.0 - rest) / fraction / std::f64::consts::PI.sqrt()
}

/// The sine of pi times a value.
fn sin_pi(x: f64) -> f64 {
    let rounded = x.round();
    let sine = (std::f64::consts::PI * (x - rounded)).sin();
    if rounded % 2.0 == 0.0 { sine } else { -sine }
}

/// The logarithm of gamma by Stirling's series (Abramowitz and Stegun, 6.1.41) after sufficiently many recurrence
/// steps.
fn log_gamma(x: f64) -> f64 {
    if x.is_nan() || x.is_infinite() {
        return x.abs();
    }
    if x <= 0.0 {
        let is_pole = x == x.trunc();
        let reflected = || std::f64::consts::PI.ln() - (sin_pi(x) * x).abs().ln() - log_gamma(-x);
        return if is_pole { f64::INFINITY } else { reflected() };
    }
    if (x - 1.0).abs() < 0.2 {
        return log_gamma_of_one_and(x - 1.0);
    }
    if (x - 2.0).abs() < 0.2 {
        return log_gamma_of_one_and(x - 2.0) + (x - 2.0).ln_1p();
    }
    let (mut z, mut product) = (x, 1.0);
    while z < 12.0 {
        product *= z;
        z += 1.0;
    }
    let w = 1.0 / (z * z);
    let terms = [1.0 / 12.0, -1.0 / 360.0, 1.0 / 1260.0, -1.0 / 1680.0, 1.0 / 1188.0, -691.0 / 360_360.0, 1.0 / 156.0];
    let series = terms.iter().rev().fold(0.0, |sum, &term| sum * w + term) / z;
    (z - 0.5) * z.ln() - z + 0.918_938_533_204_672_7 + series - product.ln()
}

/// The logarithm of `gamma(1 + t)` by its series near the zeros (Abramowitz and Stegun, 6.1.33).
fn log_gamma_of_one_and(t: f64) -> f64 {
    let zeta = |k: i32| {
        let first: f64 = (1..30).rev().map(|n| f64::from(n).powi(-k)).sum();
        // Euler-Maclaurin sum of the remaining terms.
        let (n, order) = (30f64, f64::from(k));
        let last = n.powi(-k);
        first + last * (n / (order - 1.0) + 0.5 + order / (12.0 * n))
            - last * order * (order + 1.0) * (order + 2.0) / (720.0 * n.powi(3))
    };
    let series: f64 = (2..40).rev().map(|k| zeta(k) * (-t).powi(k) / f64::from(k)).sum();
    -0.577_215_664_901_532_9 * t + series
}

fn gamma(x: f64) -> f64 {
    if x == 0.0 {
        return 1.0 / x;
    }
    if x < 0.0 {
        let is_pole = x == x.trunc();
        let size = std::f64::consts::PI / (sin_pi(x) * x);
        return if is_pole { f64::NAN } else { size.signum() * -(size.abs().ln() - log_gamma(-x)).exp() };
    }
    log_gamma(x).exp()
}
