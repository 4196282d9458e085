//! Selects the formula of each math function.

use super::bessel::{self, Order};
use super::formula_builder::{FormulaBuilder, Real};
use super::natives::Natives;
use super::{
    bessel_orders, error_function, exact, exponential, gamma, hyperbolic, inverse_error_function, inverse_hyperbolic,
    inverse_trigonometric, logarithm, power, remainder, root, trigonometric,
};
use tilewright_kernel::DirectedRounding;
use tilewright_kernel::{Builder, Element, MathFunction, Value};

/// Appends the operations of the math function `function` of scalars of type `element`; returns its result, which the
/// last operation defines. A function of fewer than three operands takes the first ones of `operands` and ignores the
/// others.
pub(super) fn append(
    builder: &mut Builder,
    element: Element,
    (function, natives): (MathFunction, Natives),
    operands: [Value; 3],
) -> Value {
    let fb = FormulaBuilder::new(builder, element);
    formula(function, natives, operands.map(|operand| fb.wrap_real(operand))).value
}

fn formula<'p>(function: MathFunction, natives: Natives, [x, y, z]: [Real<'p>; 3]) -> Real<'p> {
    match function {
        MathFunction::Exp if natives.exp2 => exponential::exp_by_exp2(x),
        MathFunction::Exp => exponential::exp(x),
        MathFunction::Exp2 => exponential::exp2(x),
        MathFunction::Exp10 => exponential::exp10(x),
        MathFunction::Expm1 => exponential::expm1(x),
        MathFunction::Log if natives.log2 => logarithm::log_by_log2(x),
        MathFunction::Log => logarithm::log(x),
        MathFunction::Log2 => logarithm::log2(x),
        MathFunction::Log10 => logarithm::log10(x),
        MathFunction::Log1p => logarithm::log1p(x),
        MathFunction::Sin => trigonometric::sin(x),
        MathFunction::Cos => trigonometric::cos(x),
        MathFunction::Tan => trigonometric::tan(x),
        MathFunction::Asin => inverse_trigonometric::asin(x),
        MathFunction::Acos => inverse_trigonometric::acos(x),
        MathFunction::Atan => inverse_trigonometric::atan(x, natives),
        MathFunction::Atan2 => inverse_trigonometric::atan2(x, y),
        MathFunction::Sinh => hyperbolic::sinh(x),
        MathFunction::Cosh => hyperbolic::cosh(x),
        MathFunction::Tanh => hyperbolic::tanh(x, natives),
        MathFunction::Asinh => inverse_hyperbolic::asinh(x),
        MathFunction::Acosh => inverse_hyperbolic::acosh(x),
        MathFunction::Atanh => inverse_hyperbolic::atanh(x),
        MathFunction::Erf => error_function::erf(x, natives),
        MathFunction::Erfc => error_function::erfc(x),
        MathFunction::Pow => power::pow(x, y, natives),
        MathFunction::Cbrt => root::cbrt(x),
        MathFunction::Rsqrt => root::rsqrt(x),
        MathFunction::Sqrt => x.sqrt(),
        MathFunction::Div => x / y,
        MathFunction::Hypot => root::hypot(x, y),
        MathFunction::Fmod => remainder::fmod(x, y, natives),
        MathFunction::Lgamma => gamma::lgamma(x),
        MathFunction::Tgamma => gamma::tgamma(x),
        MathFunction::Erfinv => inverse_error_function::erfinv(x),
        MathFunction::Erfcinv => inverse_error_function::erfcinv(x),
        MathFunction::Erfcx => inverse_error_function::erfcx(x),
        MathFunction::BesselJ0 => bessel::first(x, Order::Zero),
        MathFunction::BesselJ1 => bessel::first(x, Order::One),
        MathFunction::BesselJn => bessel_orders::first_of(x, y),
        MathFunction::BesselY0 => bessel::second(x, Order::Zero),
        MathFunction::BesselY1 => bessel::second(x, Order::One),
        MathFunction::BesselYn => bessel_orders::second_of(x, y),
        MathFunction::BesselI0 => bessel::modified(x, Order::Zero),
        MathFunction::BesselI1 => bessel::modified(x, Order::One),
        MathFunction::Logb => exact::logb(x),
        MathFunction::NextAfter => exact::next_after(x, y),
        MathFunction::Scalbn => exact::scaled_by(x, y),
        MathFunction::Remainder => remainder::remainder(x, y, natives),
        MathFunction::AddDown => exact::add(x, y, DirectedRounding::Down),
        MathFunction::AddUp => exact::add(x, y, DirectedRounding::Up),
        MathFunction::AddZero => exact::add(x, y, DirectedRounding::Zero),
        MathFunction::MulDown => exact::multiply(x, y, DirectedRounding::Down),
        MathFunction::MulUp => exact::multiply(x, y, DirectedRounding::Up),
        MathFunction::MulZero => exact::multiply(x, y, DirectedRounding::Zero),
        MathFunction::DivDown => exact::divide(x, y, DirectedRounding::Down),
        MathFunction::DivUp => exact::divide(x, y, DirectedRounding::Up),
        MathFunction::DivZero => exact::divide(x, y, DirectedRounding::Zero),
        MathFunction::SqrtDown => exact::root(x, DirectedRounding::Down),
        MathFunction::SqrtUp => exact::root(x, DirectedRounding::Up),
        MathFunction::SqrtZero => exact::root(x, DirectedRounding::Zero),
        MathFunction::FmaDown => exact::fused([x, y, z], DirectedRounding::Down),
        MathFunction::FmaUp => exact::fused([x, y, z], DirectedRounding::Up),
        MathFunction::FmaZero => exact::fused([x, y, z], DirectedRounding::Zero),
    }
}
