//! Lowers floating-point arithmetic on scalars.

use tilewright_kernel::{Binary, Builder, Cast, Compare, Element, MathFunction, Type, Unary, Value};
use tilewright_tile::op::name::{arith, math, tt};
use tilewright_tile::{self as tile, FloatType};

use super::super::error::{LowerErrorReason, Lowered};
use super::super::types::integer;
use super::{Results, Scalar, one};

pub(super) fn apply(scalar: &mut Scalar<'_>, name: &str) -> Option<Lowered<Results>> {
    let propagates = scalar.keyword("propagateNan") == "all";
    if let Some(result) = sign_of_byte(scalar, name) {
        return Some(Ok(one(result)));
    }
    let values = scalar.values;
    let builder = &mut *scalar.builder;
    let is_float = values.first().is_some_and(|&value| builder.type_of(value).element().is_some_and(Element::is_float));
    let result = match (name, values) {
        (math::FMA, &[a, b, c]) => multiply_add(builder, a, b, c),
        (tt::CLAMPF | math::CLAMPF, &[x, min, greatest]) => clamp(builder, x, [min, greatest], propagates),
        (math::COPYSIGN, &[a, b]) => with_sign_of(builder, a, b),
        (_, &[a, b]) => on_two(builder, name, a, b)?,
        (_, &[a]) => on_one(builder, name, a)?,
        _ => return None,
    };
    Some(if is_float {
        Ok(one(result))
    } else {
        Err(LowerErrorReason::unsupported(format!("there is no arithmetic of `{}`", scalar.element())))
    })
}

/// Lowers negation, absolute value and copying of the sign for 8-bit floats with a sign bit and both zeros: only the
/// highest bit changes.
fn sign_of_byte(scalar: &mut Scalar<'_>, name: &str) -> Option<Value> {
    if !matches!(scalar.from.first(), Some(tile::TileType::Float(FloatType::F8E4M3Fn | FloatType::F8E5M2))) {
        return None;
    }
    let builder = &mut *scalar.builder;
    match (name, scalar.values) {
        (arith::NEGF, &[a]) => {
            let sign = builder.constant(Type::Scalar(Element::I8), 0x80);
            Some(builder.binary(Binary::Xor, a, sign))
        }
        (math::ABSF, &[a]) => {
            let others = builder.constant(Type::Scalar(Element::I8), 0x7F);
            Some(builder.binary(Binary::And, a, others))
        }
        (math::COPYSIGN, &[a, b]) => Some(with_sign_of(builder, a, b)),
        _ => None,
    }
}

/// Computes an operation on 16-bit floating-point numbers in binary32 and rounds once. 24 bits of precision suffice for
/// additions, multiplications, divisions and roots of 11-bit numbers to round as if computed exactly.
pub(in super::super) fn in_single(
    builder: &mut Builder,
    values: &[Value],
    act: impl FnOnce(&mut Builder, &[Value]) -> Value,
) -> Value {
    let ty = values.first().map_or(Type::Scalar(Element::F32), |&value| builder.type_of(value));
    if ty.bits() >= 32 {
        return act(builder, values);
    }
    let single = Type::Scalar(Element::F32);
    let wide: Vec<Value> = values.iter().map(|&value| builder.cast(Cast::ExtendF, value, single)).collect();
    let result = act(builder, &wide);
    match builder.type_of(result) {
        found if found == single => builder.cast(Cast::RoundF, result, ty),
        _ => result,
    }
}

fn on_two(builder: &mut Builder, name: &str, a: Value, b: Value) -> Option<Value> {
    let plain = match name {
        arith::ADDF => Some(Binary::FAdd),
        arith::SUBF => Some(Binary::FSub),
        arith::MULF => Some(Binary::FMul),
        _ => None,
    };
    if let Some(op) = plain {
        return Some(builder.binary(op, a, b));
    }
    if matches!(name, arith::DIVF | tt::APPROX_DIVF) {
        return Some(in_single(builder, &[a, b], |builder, values| builder.math(MathFunction::Div, values)));
    }
    if name == tt::PRECISE_DIVF {
        return Some(in_single(builder, &[a, b], |builder, values| builder.binary(Binary::FDiv, values[0], values[1])));
    }
    let op = match name {
        arith::MAXNUMF => Binary::FMaxNumber,
        arith::MINNUMF => Binary::FMinNumber,
        arith::MAXIMUMF => Binary::FMaximum,
        arith::MINIMUMF => Binary::FMinimum,
        _ => return None,
    };
    Some(builder.binary(op, a, b))
}

fn on_one(builder: &mut Builder, name: &str, a: Value) -> Option<Value> {
    let op = match name {
        arith::NEGF => return Some(builder.unary(Unary::FNeg, a)),
        math::ABSF => return Some(builder.unary(Unary::FAbs, a)),
        math::ROUND => return Some(in_single(builder, &[a], |builder, values| half_away(builder, values[0]))),
        math::ISNAN => return Some(builder.compare(Compare::FUnordered, a, a)),
        math::ISINF | math::ISFINITE | math::ISNORMAL => return Some(class(builder, name, a)),
        math::SQRT => {
            return Some(in_single(builder, &[a], |builder, values| builder.math(MathFunction::Sqrt, values)));
        }
        tt::PRECISE_SQRT => Unary::FSqrt,
        math::FLOOR => Unary::FFloor,
        math::CEIL => Unary::FCeil,
        math::TRUNC => Unary::FTrunc,
        math::ROUNDEVEN => Unary::FNearest,
        _ => return None,
    };
    Some(in_single(builder, &[a], |builder, values| builder.unary(op, values[0])))
}

fn multiply_add(builder: &mut Builder, a: Value, b: Value, c: Value) -> Value {
    if builder.type_of(a) == Type::Scalar(Element::Bf16) {
        return in_single(builder, &[a, b, c], |builder, v| builder.fma(v[0], v[1], v[2]));
    }
    builder.fma(a, b, c)
}

fn clamp(builder: &mut Builder, x: Value, limits: [Value; 2], propagates: bool) -> Value {
    in_single(builder, &[x, limits[0], limits[1]], |builder, values| {
        let min = builder.binary(Binary::FMaxNumber, values[0], values[1]);
        let result = builder.binary(Binary::FMinNumber, min, values[2]);
        if !propagates {
            return result;
        }
        let is_nan = builder.compare(Compare::FUnordered, values[0], values[0]);
        builder.select(is_nan, values[0], result)
    })
}

/// Returns the bits of a number as an integer, and the mask of its sign bit.
fn bits_of(builder: &mut Builder, value: Value) -> (Value, u64) {
    let ty = integer(builder.type_of(value).bits());
    (builder.cast(Cast::Bits, value, ty), 1 << (ty.bits() - 1))
}

pub(super) fn with_sign_of(builder: &mut Builder, a: Value, b: Value) -> Value {
    let ty = builder.type_of(a);
    let ((a, sign), (b, _)) = (bits_of(builder, a), bits_of(builder, b));
    let word = builder.type_of(a);
    let (sign, others) = (builder.constant(word, sign), builder.constant(word, sign - 1));
    let magnitude = builder.binary(Binary::And, a, others);
    let sign = builder.binary(Binary::And, b, sign);
    let both = builder.binary(Binary::Or, magnitude, sign);
    builder.cast(Cast::Bits, both, ty)
}

/// Emits the number rounded to the nearest integral value, ties away from zero. The fraction that truncation drops is
/// exact.
fn half_away(builder: &mut Builder, x: Value) -> Value {
    let ty = builder.type_of(x);
    let truncated = builder.unary(Unary::FTrunc, x);
    let rest = builder.binary(Binary::FSub, x, truncated);
    let rest = builder.unary(Unary::FAbs, rest);
    let (half, one) = match ty.bits() {
        64 => (0.5f64.to_bits(), 1f64.to_bits()),
        _ => (u64::from(0.5f32.to_bits()), u64::from(1f32.to_bits())),
    };
    let (half, one) = (builder.constant(ty, half), builder.constant(ty, one));
    let step = with_sign_of(builder, one, x);
    let next = builder.binary(Binary::FAdd, truncated, step);
    let moves = builder.compare(Compare::FLe, half, rest);
    let rounded = builder.select(moves, next, truncated);
    with_sign_of(builder, rounded, x)
}

/// Emits a test of a number's class, which `name` gives (such as NaN or infinite), by its exponent field.
fn class(builder: &mut Builder, name: &str, x: Value) -> Value {
    let mantissa = match builder.type_of(x).element() {
        Some(Element::F64) => 52,
        Some(Element::F16) => 10,
        Some(Element::Bf16) => 7,
        _ => 23,
    };
    let (bits, sign) = bits_of(builder, x);
    let word = builder.type_of(bits);
    let (others, infinity) = (sign - 1, (sign - 1) >> mantissa << mantissa);
    let others = builder.constant(word, others);
    let magnitude = builder.binary(Binary::And, bits, others);
    let infinity = builder.constant(word, infinity);
    match name {
        math::ISINF => builder.compare(Compare::Eq, magnitude, infinity),
        math::ISFINITE => builder.compare(Compare::LtU, magnitude, infinity),
        _ => {
            let min = builder.constant(word, 1 << mantissa);
            let finite = builder.compare(Compare::LtU, magnitude, infinity);
            let normal = builder.compare(Compare::LeU, min, magnitude);
            builder.binary(Binary::And, finite, normal)
        }
    }
}
