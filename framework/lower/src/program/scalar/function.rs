//! Functions of floating-point numbers that the kernel IR names ([`MathFunction`]).

use tilewright_kernel::{Builder, Cast, Element, MathFunction, Op, Type, Value};
use tilewright_tile::op::name::{arith, math, tt};

use super::super::error::{Lowered, Reason};
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
        math::FPOWI => return Some(integer_power(scalar)),
        tt::EXTERN_ELEMENTWISE => {
            let (symbol, library) = (scalar.word("symbol"), scalar.word("libname"));
            let message = format!("nothing is known of the function `{symbol}` of the library `{library}`");
            return Some(Err(Reason::unsupported(message)));
        }
        _ => {}
    }
    let function = function(name)?;
    if !values.iter().all(|&value| scalar.builder.type_of(value).element().is_some_and(Element::is_float)) {
        let message = format!("there are no functions of `{}`", scalar.element());
        return Some(Err(Reason::unsupported(message)));
    }
    // By way of binary32 they would be rounded twice, or be neighbours there.
    let is_of_type =
        function.is_exact() && !matches!(function, MathFunction::Fmod | MathFunction::Remainder | MathFunction::Logb);
    let bits = values.first().map_or(32, |&value| scalar.builder.type_of(value).bits());
    if is_of_type && bits < 32 {
        let message = format!("`{name}` of `{}`: it is of `f32` and `f64` alone", scalar.element());
        return Some(Err(Reason::unsupported(message)));
    }
    Some(Ok(one(of(scalar.builder, function, values))))
}

/// The function of an operation.
fn function(name: &str) -> Option<MathFunction> {
    let name = match name {
        arith::REMF => "fmod",
        math::POWF => "pow",
        _ => name.strip_prefix("math.").or_else(|| name.strip_prefix("tw.math."))?,
    };
    MathFunction::named(name)
}

/// A function, of numbers of 16 bits by way of binary32.
fn of(builder: &mut Builder, function: MathFunction, values: &[Value]) -> Value {
    in_single(builder, values, |builder, values| {
        let ty = values.first().map_or(Type::Scalar(Element::F32), |&value| builder.type_of(value));
        builder.value(ty, Op::Math { function, operands: values.to_vec() })
    })
}

/// A number to the power of an integer.
fn integer_power(scalar: &mut Scalar<'_>) -> Lowered<Results> {
    let &[base, exponent] = scalar.values else { return Err(Reason::malformed("two operands are expected")) };
    let builder = &mut *scalar.builder;
    let power = in_single(builder, &[base], |builder, values| {
        let ty = builder.type_of(values[0]);
        let exponent = builder.cast(Cast::FloatS, exponent, ty);
        builder.value(ty, Op::Math { function: MathFunction::Pow, operands: vec![values[0], exponent] })
    });
    Ok(one(power))
}
