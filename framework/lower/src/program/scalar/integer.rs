//! Lowers integer and address arithmetic on scalars.

use tilewright_kernel::{Binary, Builder, Cast, Compare, Element, Type, Unary, Value};
use tilewright_tile as tile;
use tilewright_tile::op::name::{arith, math, tt, tw};

use super::super::error::{LowerErrorReason, Lowered};
use super::super::types::stored;
use super::{Results, Scalar, one, power};

const BYTE: Type = Type::Scalar(Element::I8);

pub(super) fn apply(scalar: &mut Scalar<'_>, name: &str) -> Option<Lowered<Results>> {
    let values = scalar.values;
    let result = match (name, values) {
        (tt::ADDPTR, &[pointer, offset]) => return Some(moved(scalar, pointer, offset)),
        (arith::SELECT, &[condition, a, b]) => scalar.builder.select(condition, a, b),
        (_, &[a, b]) if name.ends_with("_extended") && is_bool(scalar.builder, a) => {
            return Some(Ok(extended_truths(scalar.builder, name, a, b)));
        }
        (arith::ADDUI_EXTENDED, &[a, b]) => return Some(Ok(sum_with_carry(scalar.builder, a, b))),
        (arith::SUBUI_EXTENDED, &[a, b]) => return Some(Ok(difference_with_borrow(scalar.builder, a, b))),
        (arith::MULSI_EXTENDED, &[a, b]) => return Some(Ok(emit_mul_extended(scalar.builder, Binary::MulHighS, a, b))),
        (arith::MULUI_EXTENDED, &[a, b]) => return Some(Ok(emit_mul_extended(scalar.builder, Binary::MulHighU, a, b))),
        (_, &[a, b]) => match scalar.division {
            Some(division) => division.emit(scalar.builder, [a, b])?,
            None => on_two(scalar.builder, name, a, b)?,
        },
        (tw::MATH_BITREVERSE, &[a]) => bits_reversed(scalar.builder, a),
        (_, &[a]) => on_one(scalar.builder, name, a)?,
        _ => return None,
    };
    Some(Ok(one(result)))
}

/// Emits a pointer plus an offset in elements of the pointee type.
fn moved(scalar: &mut Scalar<'_>, pointer: Value, offset: Value) -> Lowered<Results> {
    let tile::TileType::Pointer(to) = scalar.element() else {
        return Err(LowerErrorReason::malformed("an address is expected"));
    };
    let bits = to.pointee.element_bits().ok_or_else(|| LowerErrorReason::malformed("the pointee type has no width"))?;
    Ok(one(add_elements(scalar.builder, pointer, offset, u64::from(bits.div_ceil(8)))))
}

/// Emits a pointer plus an offset in elements of `bytes` bytes.
pub(in crate::program) fn add_elements(builder: &mut Builder, pointer: Value, offset: Value, bytes: u64) -> Value {
    let wide = stored(builder.type_of(pointer));
    let offset = resized_signed(builder, offset, wide);
    let scaled = if bytes == 1 {
        offset
    } else {
        let bytes = builder.constant(wide, bytes);
        builder.binary(Binary::Mul, offset, bytes)
    };
    builder.ptr_add(pointer, scaled)
}

/// Emits a sign extension or truncation of an integer to the type `ty`.
pub(super) fn resized_signed(builder: &mut Builder, value: Value, ty: Type) -> Value {
    let (from, to) = (builder.type_of(value).bits(), ty.bits());
    let op = if from < to { Cast::ExtendS } else { Cast::Truncate };
    builder.cast(op, value, ty)
}

/// Returns the kernel IR's operation for an operation on integers of at least eight bits; `None` if it has none.
fn binary(name: &str) -> Option<Binary> {
    Some(match name {
        arith::ADDI => Binary::Add,
        arith::SUBI => Binary::Sub,
        arith::MULI => Binary::Mul,
        arith::ANDI => Binary::And,
        arith::ORI => Binary::Or,
        arith::XORI => Binary::Xor,
        arith::SHLI => Binary::Shl,
        arith::SHRSI => Binary::ShrS,
        arith::SHRUI => Binary::ShrU,
        arith::DIVSI => Binary::DivS,
        arith::DIVUI => Binary::DivU,
        arith::REMSI => Binary::RemS,
        arith::REMUI => Binary::RemU,
        tt::MULHIUI => Binary::MulHighU,
        _ => return None,
    })
}

/// Emits the reversal of an integer's bits: swaps its halves, then the halves of these, and so on.
fn bits_reversed(builder: &mut Builder, value: Value) -> Value {
    let ty = builder.type_of(value);
    let mut half = ty.bits() / 2;
    let mut reversed = value;
    // The mask of the lower halves.
    let mut lower = u64::MAX >> (64 - ty.bits());
    while half > 0 {
        lower ^= lower << half;
        let (by, mask) =
            (builder.constant(ty, u64::from(half)), builder.constant(ty, lower & (u64::MAX >> (64 - ty.bits()))));
        let upper = builder.binary(Binary::ShrU, reversed, by);
        let upper = builder.binary(Binary::And, upper, mask);
        let below = builder.binary(Binary::And, reversed, mask);
        let below = builder.binary(Binary::Shl, below, by);
        reversed = builder.binary(Binary::Or, upper, below);
        half /= 2;
    }
    reversed
}

/// Whether a kernel value has the type `i1`.
fn is_bool(builder: &Builder, value: Value) -> bool {
    builder.type_of(value) == Type::Scalar(Element::I1)
}

/// Emits an operation on two integers; returns `None` for a name that is not one of theirs.
pub(super) fn on_two(builder: &mut Builder, name: &str, a: Value, b: Value) -> Option<Value> {
    if is_bool(builder, a) && !binary(name).is_some_and(Binary::is_bitwise) {
        let signed = name.ends_with("si");
        let (left, right) = (widened(builder, a, signed), widened(builder, b, signed));
        let result = on_two(builder, name, left, right)?;
        return Some(builder.cast(Cast::Truncate, result, Type::Scalar(Element::I1)));
    }
    let extreme = |signed: bool, greatest: bool| Some((signed, greatest));
    let found = match name {
        arith::MAXSI => extreme(true, true),
        arith::MAXUI => extreme(false, true),
        arith::MINSI => extreme(true, false),
        arith::MINUI => extreme(false, false),
        _ => None,
    };
    if let Some((signed, greatest)) = found {
        let less = builder.compare(if signed { Compare::LtS } else { Compare::LtU }, a, b);
        return Some(if greatest { builder.select(less, b, a) } else { builder.select(less, a, b) });
    }
    match name {
        math::IPOWI => return Some(power::of_integers(builder, a, b)),
        arith::CEILDIVSI => return Some(rounded_quotient(builder, a, b, true)),
        arith::FLOORDIVSI => return Some(rounded_quotient(builder, a, b, false)),
        arith::CEILDIVUI => return Some(ceiling_unsigned(builder, a, b)),
        _ => {}
    }
    Some(builder.binary(binary(name)?, a, b))
}

/// Emits both results (low and high part) of an extended addition, subtraction or multiplication of `i1` values.
fn extended_truths(builder: &mut Builder, name: &str, a: Value, b: Value) -> Results {
    let both = builder.binary(Binary::And, a, b);
    let (low, high) = match name {
        arith::ADDUI_EXTENDED => (builder.binary(Binary::Xor, a, b), both),
        arith::SUBUI_EXTENDED => (builder.binary(Binary::Xor, a, b), builder.binary(Binary::Xor, both, b)),
        // Signed and unsigned multiplication agree: if both operands are set, the product is one, and the high part
        // zero.
        _ => (both, builder.constant(Type::Scalar(Element::I1), 0)),
    };
    Results::from_slice(&[low, high])
}

/// Emits an `i1` as a byte: 0, or 1 (-1 if `signed`).
pub(super) fn widened(builder: &mut Builder, value: Value, signed: bool) -> Value {
    builder.cast(if signed { Cast::ExtendS } else { Cast::ExtendU }, value, BYTE)
}

/// Emits a signed division that rounds up or down.
fn rounded_quotient(builder: &mut Builder, a: Value, b: Value, up: bool) -> Value {
    let ty = builder.type_of(a);
    let quotient = builder.binary(Binary::DivS, a, b);
    let rest = builder.binary(Binary::RemS, a, b);
    let zero = builder.constant(ty, 0);
    let is_inexact = builder.compare(Compare::Ne, rest, zero);
    // The remainder has the dividend's sign. If the divisor has the same sign, the exact quotient is positive, and
    // truncation rounded it down.
    let signs = builder.binary(Binary::Xor, rest, b);
    let differ = builder.compare(Compare::LtS, signs, zero);
    let agree = builder.compare(Compare::LeS, zero, signs);
    let moves = builder.binary(Binary::And, is_inexact, if up { agree } else { differ });
    let one = builder.constant(ty, 1);
    let next = builder.binary(if up { Binary::Add } else { Binary::Sub }, quotient, one);
    builder.select(moves, next, quotient)
}

fn ceiling_unsigned(builder: &mut Builder, a: Value, b: Value) -> Value {
    let ty = builder.type_of(a);
    let quotient = builder.binary(Binary::DivU, a, b);
    let rest = builder.binary(Binary::RemU, a, b);
    let (zero, one) = (builder.constant(ty, 0), builder.constant(ty, 1));
    let is_inexact = builder.compare(Compare::Ne, rest, zero);
    let next = builder.binary(Binary::Add, quotient, one);
    builder.select(is_inexact, next, quotient)
}

fn sum_with_carry(builder: &mut Builder, a: Value, b: Value) -> Results {
    let sum = builder.binary(Binary::Add, a, b);
    let carry = builder.compare(Compare::LtU, sum, a);
    Results::from_slice(&[sum, carry])
}

fn difference_with_borrow(builder: &mut Builder, a: Value, b: Value) -> Results {
    let difference = builder.binary(Binary::Sub, a, b);
    let borrow = builder.compare(Compare::LtU, a, b);
    Results::from_slice(&[difference, borrow])
}

fn emit_mul_extended(builder: &mut Builder, high: Binary, a: Value, b: Value) -> Results {
    let low = builder.binary(Binary::Mul, a, b);
    let high = builder.binary(high, a, b);
    Results::from_slice(&[low, high])
}

fn on_one(builder: &mut Builder, name: &str, a: Value) -> Option<Value> {
    let ty = builder.type_of(a);
    if is_bool(builder, a) {
        let one = builder.constant(ty, 1);
        return match name {
            // The absolute value of minus one does not fit one bit, and wraps.
            math::ABSI | math::CTPOP => Some(a),
            math::CTLZ | math::CTTZ => Some(builder.binary(Binary::Xor, a, one)),
            _ => None,
        };
    }
    Some(match name {
        math::ABSI => {
            let zero = builder.constant(ty, 0);
            let negated = builder.binary(Binary::Sub, zero, a);
            let is_negative = builder.compare(Compare::LtS, a, zero);
            builder.select(is_negative, negated, a)
        }
        math::CTLZ => builder.unary(Unary::LeadingZeros, a),
        math::CTPOP => builder.unary(Unary::PopCount, a),
        math::CTTZ => {
            // The trailing zeros, as ones.
            let minus_one = builder.constant(ty, u64::MAX >> (64 - ty.bits()));
            let below = builder.binary(Binary::Add, a, minus_one);
            let inverted = builder.binary(Binary::Xor, a, minus_one);
            let zeros = builder.binary(Binary::And, below, inverted);
            builder.unary(Unary::PopCount, zeros)
        }
        _ => return None,
    })
}
