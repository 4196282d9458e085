//! Math functions that the target's hardware executes and that a kernel therefore still contains.
//!
//! The host evaluates a function in binary64 and rounds once, so an `f32` result is nearly always correctly rounded;
//! hardware results lie within the stated bound of the instruction. No hardware has functions that the host's math
//! library lacks.

use crate::rounding::AccumulatorType;
use tilewright_kernel::{Element, MathFunction};

/// Whether [`evaluate`] supports the math function: the host's math library must have it.
pub(crate) fn is_evaluated(function: MathFunction) -> bool {
    let is_here = |function| {
        let is_of_c =
            !matches!(function, MathFunction::Erf | MathFunction::Erfc | MathFunction::Lgamma | MathFunction::Tgamma);
        is_of_c && !(MathFunction::Erfinv..=MathFunction::BesselI1).contains(&function)
    };
    is_here(function) && (function == MathFunction::Fmod || !function.is_bit_exact())
}

/// Returns the value of a math function for the elements `a` and `b`. Operands and result are bits of the type
/// `element`; unary functions ignore `b`.
pub(crate) fn evaluate(function: MathFunction, element: Element, a: u64, b: u64) -> u64 {
    let Some(number) = AccumulatorType::named(element.name()) else { return a };
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
        MathFunction::Sqrt => x.sqrt(),
        MathFunction::Div => x / y,
        MathFunction::Hypot => x.hypot(y),
        MathFunction::Fmod => x % y,
        _ => f64::NAN,
    }
}
