//! Error bounds of results.

use tilewright_kernel::{Element, MathFunction};

/// Returns the maximum error of a function's expansion, in units in the last place (ulp) of the exact result. Zero
/// means exact; `None` is returned for elements other than `f32` and `f64`.
///
/// - The ulp of a subnormal result is the minimum subnormal. The ulp of a result beyond the greatest finite value is
///   the ulp of the greatest finite value.
/// - For [`MathFunction::Lgamma`] below zero, where results vanish between the poles, the ulp is at least the ulp of
///   one.
/// - For Bessel functions of the first and second kind from 1/2 on, the ulp is at least the ulp of their amplitude,
///   `sqrt(2 / (pi x))` but no more than 1/2.
/// - For Bessel functions of any integer order, the error grows with the order; the bound holds for orders of magnitude
///   up to 32.
///
/// Measured errors are smaller: `docs/math.md` lists those of the tests' arguments.
#[must_use]
pub fn error_bound_ulps(function: MathFunction, element: Element) -> Option<f64> {
    if !matches!(element, Element::F32 | Element::F64) {
        return None;
    }
    Some(match function {
        exact if exact.is_bit_exact() => 0.0,
        MathFunction::Exp | MathFunction::Exp2 | MathFunction::Exp10 => 1.0,
        MathFunction::Log | MathFunction::Log2 | MathFunction::Log10 | MathFunction::Log1p => 1.0,
        MathFunction::Sqrt | MathFunction::Div => 0.5,
        MathFunction::Cbrt | MathFunction::Hypot => 1.0,
        MathFunction::Atan | MathFunction::Asin | MathFunction::Acos | MathFunction::Tan => 1.5,
        MathFunction::Sinh | MathFunction::Cosh | MathFunction::Tanh => 1.5,
        MathFunction::Asinh | MathFunction::Acosh | MathFunction::Atanh => 1.5,
        MathFunction::Pow if element == Element::F32 => 3.5,
        MathFunction::Erf | MathFunction::Erfc | MathFunction::Pow => 1.5,
        MathFunction::Sin | MathFunction::Cos | MathFunction::Expm1 | MathFunction::Rsqrt | MathFunction::Atan2 => 2.0,
        MathFunction::Tgamma => 2.0,
        MathFunction::Lgamma => 3.0,
        MathFunction::Erfinv | MathFunction::Erfcinv | MathFunction::Erfcx => 3.0,
        MathFunction::BesselJ0 | MathFunction::BesselJ1 | MathFunction::BesselY0 | MathFunction::BesselY1 => 4.0,
        MathFunction::BesselI0 | MathFunction::BesselI1 => 3.0,
        MathFunction::BesselJn | MathFunction::BesselYn => 16.0,
        // The remaining functions are exact.
        _ => 0.0,
    })
}
