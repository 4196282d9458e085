//! Functions of floating-point numbers, for those that a target's hardware has and a kernel therefore still names.
//!
//! They are computed by the host in binary64 and rounded once, so that an `f32` is nearly always the nearest one; hardware
//! gives what lies within its stated bound. Those that the host's library lacks no hardware has either.

use crate::rounding::Sum;
use tilewright_kernel::{Element, MathFunction};

/// Whether the host has it.
pub(crate) fn is_evaluated(function: MathFunction) -> bool {
    let is_here = |function| {
        let is_of_c =
            !matches!(function, MathFunction::Erf | MathFunction::Erfc | MathFunction::Lgamma | MathFunction::Tgamma);
        is_of_c && !(MathFunction::Erfinv..=MathFunction::BesselI1).contains(&function)
    };
    is_here(function) && (function == MathFunction::Fmod || !function.is_exact())
}

/// The function of numbers of this element; of one number where it takes one.
pub(crate) fn evaluate(function: MathFunction, element: Element, a: u64, b: u64) -> u64 {
    let Some(number) = Sum::named(element.name()) else { return a };
    number.encode(host(function, number.decode(a), number.decode(b)))
}

fn host(function: MathFunction, x: f64, y: f64) -> f64 {
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
        MathFunction::Pow => x.powf(y),
        MathFunction::Cbrt => x.cbrt(),
        MathFunction::Rsqrt => 1.0 / x.sqrt(),
        MathFunction::Hypot => x.hypot(y),
        MathFunction::Fmod => x % y,
        _ => f64::NAN,
    }
}
