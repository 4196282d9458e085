//! Lowers casts of scalars.

use tilewright_kernel::{Binary, Builder, Cast, Compare, Element, Type, Value};
use tilewright_math::casts::NativeCasts;
use tilewright_tile::op::name::{arith, tt};
use tilewright_tile::{self as tile, FloatType};

use super::super::error::{LowerErrorReason, Lowered};
use super::super::types::{carrier, integer, native};
use super::integer::{resized_signed, widened};
use super::narrow;
use super::{Results, Scalar, one};

const WORD: Type = Type::Scalar(Element::I32);

/// Emits a cast by the target's instructions and returns its results: the extension of an 8-bit floating-point type,
/// the rounding to such a type to nearest even, or the rounding of `f32` to 16 bits toward zero. `None` if the
/// operation `name` is no such cast, or if the target has no instruction for it.
pub(super) fn by_instructions(scalar: &mut Scalar<'_>, name: &str) -> Option<Vec<Value>> {
    let (Some(&tile::TileType::Float(from)), Some(&tile::TileType::Float(to))) =
        (scalar.from.first(), scalar.to.first())
    else {
        return None;
    };
    let is_cast = is_float_cast(name);
    if let Some(to) = native(to).filter(|_| is_cast && is_toward_zero(scalar)) {
        return scalar.native.round_toward_zero(scalar.builder, scalar.values, to);
    }
    if !is_nearest(scalar) || !is_cast {
        return None;
    }
    match (native(from), native(to)) {
        (None, Some(wide)) => scalar.native.extend(scalar.builder, scalar.values, from.format(), wide),
        (Some(_), None) => scalar.native.round(scalar.builder, scalar.values, to.format()),
        _ => None,
    }
}

/// Emits the rounding of `f32` numbers to a 16-bit type, to nearest even and two at a time; `None` if the operation
/// `name` is no such cast, or if the target has no instruction for it.
pub(super) fn by_pairs(scalar: &mut Scalar<'_>, name: &str) -> Option<Vec<Value>> {
    let Some(&tile::TileType::Float(to)) = scalar.to.first() else { return None };
    let is_cast = is_float_cast(name) && is_nearest(scalar);
    is_cast.then(|| scalar.native.round_pairs(scalar.builder, scalar.values, native(to)?)).flatten()
}

/// Emits the conversion of 8-bit integers to `f16` by bytes that the registers hold; `None` if the operation `name` is
/// no such cast, or if the target selects no bytes by an instruction.
pub(super) fn by_bytes(scalar: &mut Scalar<'_>, name: &str) -> Option<Vec<Value>> {
    let is_half = matches!(scalar.to.first(), Some(tile::TileType::Float(FloatType::F16)));
    let is_cast = is_half && matches!(name, arith::SITOFP | arith::UITOFP);
    is_cast.then(|| scalar.native.convert_bytes(scalar.builder, scalar.values, name == arith::SITOFP)).flatten()
}

fn is_float_cast(name: &str) -> bool {
    matches!(name, arith::EXTF | arith::TRUNCF | arith::CONVERTF | tt::FP_TO_FP)
}

fn is_nearest(scalar: &Scalar<'_>) -> bool {
    matches!(scalar.keyword("rounding"), "" | "rtne")
        && matches!(scalar.keyword("roundingmode"), "" | "to_nearest_even")
}

fn is_toward_zero(scalar: &Scalar<'_>) -> bool {
    scalar.keyword("rounding") == "rtz" || scalar.keyword("roundingmode") == "toward_zero"
}

pub(super) fn apply(scalar: &mut Scalar<'_>, name: &str) -> Option<Lowered<Results>> {
    let &[value] = scalar.values else { return None };
    if let Some([converted]) = by_instructions(scalar, name).as_deref() {
        return Some(Ok(one(*converted)));
    }
    let (from, to) = (scalar.from.first()?.clone(), scalar.to.first()?.clone());
    let to_zero = is_toward_zero(scalar);
    let mode = scalar.keyword("roundingmode").to_owned();
    let builder = &mut *scalar.builder;
    Some(
        match name {
            arith::EXTF | arith::TRUNCF | arith::CONVERTF | tt::FP_TO_FP => match mode.as_str() {
                "downward" => rounded_away(builder, value, (&from, &to), false),
                "upward" => rounded_away(builder, value, (&from, &to), true),
                "to_nearest_away" => {
                    Err(LowerErrorReason::unsupported("no cast rounds ties away from zero; round to even"))
                }
                _ => between_floats(builder, value, (&from, &to), to_zero),
            },
            arith::SITOFP => from_integer(builder, scalar.native, value, (&to, true)),
            arith::UITOFP => from_integer(builder, scalar.native, value, (&to, false)),
            arith::FPTOSI => to_integer(builder, value, (&from, &to), Cast::IntS),
            arith::FPTOUI => to_integer(builder, value, (&from, &to), Cast::IntU),
            arith::EXTUI | arith::INDEX_CASTUI => resized(builder, value, &to, Cast::ExtendU),
            arith::EXTSI | arith::TRUNCI | arith::INDEX_CAST => resized(builder, value, &to, Cast::ExtendS),
            arith::BITCAST | tt::BITCAST | tt::INT_TO_PTR | tt::PTR_TO_INT => bits(builder, value, &to),
            _ => return None,
        }
        .map(one),
    )
}

fn resized(builder: &mut Builder, value: Value, to: &tile::TileType, extend: Cast) -> Lowered<Value> {
    let ty = carrier(to)?;
    let op = if builder.type_of(value).bits() < ty.bits() { extend } else { Cast::Truncate };
    Ok(builder.cast(op, value, ty))
}

/// Emits a bitcast to the type `to`. Between an address and an integer of another width, it extends with zeros or keeps
/// the low bits.
fn bits(builder: &mut Builder, value: Value, to: &tile::TileType) -> Lowered<Value> {
    let ty = carrier(to)?;
    let from = builder.type_of(value);
    if from == ty {
        return Ok(value);
    }
    let is_address = |ty: Type| matches!(ty, Type::Pointer(_));
    if is_address(from) && is_address(ty) && from.bits() != ty.bits() {
        return Err(LowerErrorReason::unsupported("an address is valid in its own memory space only"));
    }
    let address = if is_address(from) { builder.cast(Cast::Bits, value, integer(from.bits())) } else { value };
    let address = if is_address(ty) || is_address(from) {
        let wide = integer(ty.bits());
        let have = builder.type_of(address);
        let word = builder.cast(Cast::Bits, address, integer(have.bits()));
        let op = if have.bits() < wide.bits() { Cast::ExtendU } else { Cast::Truncate };
        builder.cast(op, word, wide)
    } else {
        address
    };
    Ok(builder.cast(Cast::Bits, address, ty))
}

fn from_integer(
    builder: &mut Builder,
    natives: NativeCasts,
    value: Value,
    (to, signed): (&tile::TileType, bool),
) -> Lowered<Value> {
    let value = match builder.type_of(value) {
        Type::Scalar(Element::I1) => widened(builder, value, signed),
        _ => value,
    };
    let float = as_float(to)?;
    let op = if signed { Cast::FloatS } else { Cast::FloatU };
    match native(float) {
        // Through binary32 the number would be rounded twice; binary64 represents all 32-bit integers.
        Some(Element::Bf16) if builder.type_of(value) == WORD && !natives.is_native(op, Element::Bf16) => {
            let double = builder.cast(op, value, Type::Scalar(Element::F64));
            Ok(narrow::by_odd_single(builder, double, Element::Bf16))
        }
        // The integers that binary32 rounds exceed the range of binary16. Two numbers in binary32 become a register's
        // pair of binary16 by one instruction.
        Some(Element::F16) if builder.type_of(value) == WORD => {
            let single = builder.cast(op, value, Type::Scalar(Element::F32));
            Ok(builder.cast(Cast::RoundF, single, Type::Scalar(Element::F16)))
        }
        Some(element) => Ok(builder.cast(op, value, Type::Scalar(element))),
        // Integers that are too large for binary32 exceed the range of narrow types, except for powers of two.
        None => {
            let single = builder.cast(op, value, Type::Scalar(Element::F32));
            narrow::rounded(builder, single, FloatType::F32, float, false)
        }
    }
}

fn to_integer(
    builder: &mut Builder,
    value: Value,
    (from, to): (&tile::TileType, &tile::TileType),
    op: Cast,
) -> Lowered<Value> {
    let (float, ty) = (as_float(from)?, carrier(to)?);
    let value = match native(float) {
        Some(_) => value,
        None => narrow::widened(builder, value, float)?,
    };
    if ty.bits() >= 32 {
        return Ok(builder.cast(op, value, ty));
    }
    // A number beyond a narrow integer wraps through a 32-bit integer, as in Triton's code.
    let word = builder.cast(Cast::IntS, value, Type::Scalar(Element::I32));
    Ok(resized_signed(builder, word, ty))
}

/// Emits a cast that rounds up (if `up`) or down: it casts toward zero, then steps to the next number of greater
/// magnitude if needed.
fn rounded_away(
    builder: &mut Builder,
    value: Value,
    (from, to): (&tile::TileType, &tile::TileType),
    up: bool,
) -> Lowered<Value> {
    let (have, required) = (native(as_float(from)?), native(as_float(to)?));
    let (Some(have), Some(required)) = (have, required) else {
        return Err(LowerErrorReason::unsupported(format!("`{from}` to `{to}` rounds to nearest or toward zero only")));
    };
    if have.bits() == required.bits() && have != required {
        return Err(LowerErrorReason::unsupported(format!("`{from}` to `{to}` rounds to nearest or toward zero only")));
    }
    if have.bits() <= required.bits() {
        // Wider types represent all values of narrower ones.
        return between_floats(builder, value, (from, to), true);
    }
    let inner = between_floats(builder, value, (from, to), true)?;
    let extended = builder.cast(Cast::ExtendF, inner, Type::Scalar(have));
    let (less, greater) = if up { (extended, value) } else { (value, extended) };
    let is_beyond = builder.compare(Compare::FLt, less, greater);
    let word = integer(required.bits());
    let bits = builder.cast(Cast::Bits, inner, word);
    let one = builder.constant(word, 1);
    let next = builder.binary(Binary::Add, bits, one);
    let next = builder.cast(Cast::Bits, next, Type::Scalar(required));
    Ok(builder.select(is_beyond, next, inner))
}

fn as_float(ty: &tile::TileType) -> Lowered<FloatType> {
    match ty {
        tile::TileType::Float(float) => Ok(*float),
        other => Err(LowerErrorReason::malformed(format!("`{other}` is not a floating-point type"))),
    }
}

/// Emits a cast between floating-point types, which rounds toward zero if `to_zero`, otherwise to nearest even.
fn between_floats(
    builder: &mut Builder,
    value: Value,
    (from, to): (&tile::TileType, &tile::TileType),
    to_zero: bool,
) -> Lowered<Value> {
    let (from, to) = (as_float(from)?, as_float(to)?);
    if from == to {
        return Ok(value);
    }
    match (native(from), native(to)) {
        (None, _) => {
            let single = narrow::widened(builder, value, from)?;
            if to == FloatType::F32 {
                return Ok(single);
            }
            let [single_type, required] = [FloatType::F32, to].map(tile::TileType::Float);
            between_floats(builder, single, (&single_type, &required), to_zero)
        }
        (Some(_), None) => narrow::rounded(builder, value, from, to, to_zero),
        (Some(have), Some(required)) if have.bits() < required.bits() => {
            Ok(builder.cast(Cast::ExtendF, value, Type::Scalar(required)))
        }
        (Some(have), Some(required)) if have.bits() > required.bits() => {
            if to_zero {
                return Ok(narrow::toward_zero(builder, value, required));
            }
            if have == Element::F64 && required == Element::Bf16 {
                return Ok(narrow::by_odd_single(builder, value, required));
            }
            Ok(builder.cast(Cast::RoundF, value, Type::Scalar(required)))
        }
        // binary16 and bfloat16 have equal widths; `tf32` is carried as binary32.
        (Some(have), Some(required)) if have != required => {
            let single = builder.cast(Cast::ExtendF, value, Type::Scalar(Element::F32));
            if to_zero {
                return Ok(narrow::toward_zero(builder, single, required));
            }
            Ok(builder.cast(Cast::RoundF, single, Type::Scalar(required)))
        }
        _ => Ok(value),
    }
}
