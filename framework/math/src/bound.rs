//! How far from the exact value results are at most.

use tilewright_kernel::{Element, MathFunction};

/// The greatest error of a function's expansion, in units in the last place of the exact result: where that is subnormal
/// the least number above zero, beyond the greatest number the last place of that. Zero means exact. Of
/// [`MathFunction::Lgamma`] below zero, where results vanish between the poles, the unit is at least that of one. Of Bessel
/// functions of the first and second kind from 1/2 on, the unit is at least that of their waves, `sqrt(2 / (pi x))` but no more than 1/2;
/// of those of any order it grows with the order: what is said is of sizes up to 32.
/// `None` for elements other than `f32` and `f64`.
///
/// The greatest errors that were met are less: `docs/math.md` lists those of the tests' arguments.
#[must_use]
pub fn bound(function: MathFunction, element: Element) -> Option<f64> {
    if !matches!(element, Element::F32 | Element::F64) {
        return None;
    }
    Some(match function {
        exact if exact.is_exact() => 0.0,
        MathFunction::Exp | MathFunction::Exp2 | MathFunction::Exp10 => 1.0,
        MathFunction::Log | MathFunction::Log2 | MathFunction::Log10 | MathFunction::Log1p => 1.0,
        MathFunction::Cbrt | MathFunction::Hypot => 1.0,
        MathFunction::Atan | MathFunction::Asin | MathFunction::Acos | MathFunction::Tan => 1.5,
        MathFunction::Sinh | MathFunction::Cosh | MathFunction::Tanh => 1.5,
        MathFunction::Asinh | MathFunction::Acosh | MathFunction::Atanh => 1.5,
        MathFunction::Erf | MathFunction::Erfc | MathFunction::Pow => 1.5,
        MathFunction::Sin | MathFunction::Cos | MathFunction::Expm1 | MathFunction::Rsqrt | MathFunction::Atan2 => 2.0,
        MathFunction::Tgamma => 2.0,
        MathFunction::Lgamma => 3.0,
        MathFunction::Erfinv | MathFunction::Erfcinv | MathFunction::Erfcx => 3.0,
        MathFunction::BesselJ0 | MathFunction::BesselJ1 | MathFunction::BesselY0 | MathFunction::BesselY1 => 4.0,
        MathFunction::BesselI0 | MathFunction::BesselI1 => 3.0,
        MathFunction::BesselJn | MathFunction::BesselYn => 16.0,
        // What is exact was named before.
        _ => 0.0,
    })
}
