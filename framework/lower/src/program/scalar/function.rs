//! Lowers math functions that the kernel IR names ([`MathFunction`]).

use tilewright_kernel::{Binary, Builder, Cast, Element, MathFunction, Op, Type, Value};
use tilewright_tile::op::name::{arith, math, tt};

use super::super::error::{LowerErrorReason, Lowered};
use super::float::in_single;
use super::{Results, Scalar, one};

pub(super) fn apply(scalar: &mut Scalar<'_>, name: &str) -> Option<Lowered<Results>> {
    let values = scalar.values;
    match name {
        math::SINCOS => {
            let [sine, cosine] =
                [MathFunction::Sin, MathFunction::Cos].map(|function| of(scalar.builder, function, values));
            return Some(Ok(Results::from_slice(&[sine, cosine])));
        }
        math::EXP if is_single(scalar) => return Some(Ok(one(exponential(scalar.builder, values)))),
        math::FPOWI => return Some(integer_power(scalar)),
        tt::EXTERN_ELEMENTWISE => {
            let (symbol, library) = (scalar.keyword("symbol"), scalar.keyword("libname"));
            let message = format!("the function `{symbol}` of the library `{library}` is unknown");
            return Some(Err(LowerErrorReason::unsupported(message)));
        }
        _ => {}
    }
    let function = function(name)?;
    if !values.iter().all(|&value| scalar.builder.type_of(value).element().is_some_and(Element::is_float)) {
        let message = format!("there are no functions of `{}`", scalar.element());
        return Some(Err(LowerErrorReason::unsupported(message)));
    }
    // Functions with exact results are not computed in binary32 for 16-bit types: it would round twice, or return a
    // neighbour in binary32.
    let is_of_type = function.is_bit_exact()
        && !matches!(function, MathFunction::Fmod | MathFunction::Remainder | MathFunction::Logb);
    let bits = values.first().map_or(32, |&value| scalar.builder.type_of(value).bits());
    if is_of_type && bits < 32 {
        let message = format!("`{name}` of `{}`: it supports `f32` and `f64` only", scalar.element());
        return Some(Err(LowerErrorReason::unsupported(message)));
    }
    Some(Ok(one(of(scalar.builder, function, values))))
}

/// Returns the math function that the operation with this name computes; `None` if it computes none.
fn function(name: &str) -> Option<MathFunction> {
    let name = match name {
        arith::REMF => "fmod",
        math::POWF => "pow",
        _ => name.strip_prefix("math.").or_else(|| name.strip_prefix("tw.math."))?,
    };
    MathFunction::from_name(name)
}

/// Emits a math function; for 16-bit numbers it is computed in binary32.
fn of(builder: &mut Builder, function: MathFunction, values: &[Value]) -> Value {
    in_single(builder, values, |builder, values| {
        let ty = values.first().map_or(Type::Scalar(Element::F32), |&value| builder.type_of(value));
        builder.value(ty, Op::Math { function, operands: values.to_vec() })
    })
}

/// Whether the first operand is a floating-point number of at most 32 bits.
fn is_single(scalar: &Scalar<'_>) -> bool {
    let ty = scalar.values.first().map(|&value| scalar.builder.type_of(value));
    ty.is_some_and(|ty| ty.element().is_some_and(Element::is_float) && ty.bits() <= 32)
}

/// Emits `2^(x log2 e)` in binary32, as Triton does. The product is rounded, so that the relative error grows with the
/// argument; `tw.math.exp` corrects it.
fn exponential(builder: &mut Builder, values: &[Value]) -> Value {
    in_single(builder, values, |builder, values| {
        let bits = std::f32::consts::LOG2_E.to_bits();
        let log2_e = builder.constant(Type::Scalar(Element::F32), u64::from(bits));
        let product = builder.binary(Binary::FMul, values[0], log2_e);
        builder.math(MathFunction::Exp2, &[product])
    })
}

/// Emits the power of a number with an integer exponent.
fn integer_power(scalar: &mut Scalar<'_>) -> Lowered<Results> {
    let &[base, exponent] = scalar.values else { return Err(LowerErrorReason::malformed("two operands are expected")) };
    let builder = &mut *scalar.builder;
    let power = in_single(builder, &[base], |builder, values| {
        let ty = builder.type_of(values[0]);
        let exponent = builder.cast(Cast::FloatS, exponent, ty);
        builder.value(ty, Op::Math { function: MathFunction::Pow, operands: vec![values[0], exponent] })
    });
    Ok(one(power))
}
