//! How far from the exact value results are at most.

use crate::kernel::{Element, MathFunction};

/// The greatest error of a function's expansion, in units in the last place of the exact result: for subnormal results
/// the least subnormal number, beyond the greatest number the unit of that. `None` for other elements than `f32` and
/// `f64`, and for functions that have no expansion. Zero means exact.
///
/// Those of `f32` in one argument hold for all arguments, which were all tried; the others hold for the arguments of
/// `tests/math.rs` and many random ones, and have room.
#[must_use]
pub fn bound(function: MathFunction, element: Element) -> Option<f64> {
    let (single, double) = bounds(function)?;
    match element {
        Element::F32 => Some(single),
        Element::F64 => Some(double),
        _ => None,
    }
}

fn bounds(function: MathFunction) -> Option<(f64, f64)> {
    Some(match function {
        MathFunction::Lgamma | MathFunction::Tgamma => return None,
        MathFunction::Fmod => (0.0, 0.0),
        MathFunction::Exp | MathFunction::Exp2 | MathFunction::Exp10 => (1.0, 1.0),
        MathFunction::Log | MathFunction::Log2 | MathFunction::Log10 | MathFunction::Log1p => (1.0, 1.0),
        MathFunction::Cbrt => (1.0, 1.0),
        MathFunction::Sinh | MathFunction::Cosh | MathFunction::Hypot => (1.5, 1.5),
        _ => (2.0, 2.0),
    })
}
