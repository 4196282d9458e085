//! Integer arithmetic instructions. Results wrap around. Division by zero returns all ones, because PTX leaves the
//! value unspecified.

use super::{one, three, two};
use crate::machine::Compute;
use crate::program::{Form, Type, mask, sign_extend};

/// Returns the integer that `bits` represents in the type `ty`.
fn number(ty: Type, bits: u64) -> i128 {
    if ty.is_signed() { i128::from(sign_extend(bits, ty.bits)) } else { i128::from(bits & mask(ty.bits)) }
}

fn plain(form: &Form<'_>) -> Option<Type> {
    form.words.is_empty().then(|| form.ty())
}

pub(super) fn add(form: &Form<'_>) -> Option<Compute> {
    let ty = form.ty();
    match form.words.as_slice() {
        [] => two(ty, u64::wrapping_add),
        ["sat"] if ty.is_signed() => two(ty, move |a, b| saturated(ty, number(ty, a) + number(ty, b))),
        _ => None,
    }
}

pub(super) fn sub(form: &Form<'_>) -> Option<Compute> {
    let ty = form.ty();
    match form.words.as_slice() {
        [] => two(ty, u64::wrapping_sub),
        ["sat"] if ty.is_signed() => two(ty, move |a, b| saturated(ty, number(ty, a) - number(ty, b))),
        _ => None,
    }
}

/// Clamps an integer to the range of a signed type and returns its bits.
fn saturated(ty: Type, value: i128) -> u64 {
    let most = (1i128 << (ty.bits - 1)) - 1;
    value.clamp(-most - 1, most) as u64
}

/// Returns the function that takes the result from an exact product: the low half (`.lo`), the high half (`.hi`) or all
/// of it (`.wide`). `None` for other modifiers.
fn select_half(form: &Form<'_>) -> Option<fn(Type, i128) -> u64> {
    match form.words.as_slice() {
        ["lo"] | ["wide"] => Some(|_, product| product as u64),
        ["hi"] => Some(|ty, product| (product >> ty.bits) as u64),
        _ => None,
    }
}

/// Returns the exact product of two values of this type. For unsigned 64-bit values, the 128 bits are those of the
/// unsigned product.
fn product(ty: Type, a: u64, b: u64) -> i128 {
    if ty.is_signed() {
        number(ty, a) * number(ty, b)
    } else {
        (u128::from(a & mask(ty.bits)) * u128::from(b & mask(ty.bits))).cast_signed()
    }
}

/// Returns the high half of an exact product, shifted to the low bits; zero-extended for unsigned types.
fn high(ty: Type, product: i128) -> u64 {
    if ty.is_signed() { (product >> ty.bits) as u64 } else { (product.cast_unsigned() >> ty.bits) as u64 }
}

pub(super) fn mul(form: &Form<'_>) -> Option<Compute> {
    let ty = form.ty();
    if form.words == ["hi"] {
        return two(ty, move |a, b| high(ty, product(ty, a, b)));
    }
    let select_half = select_half(form)?;
    two(ty, move |a, b| select_half(ty, product(ty, a, b)))
}

pub(super) fn mad(form: &Form<'_>) -> Option<Compute> {
    let ty = form.ty();
    match form.words.as_slice() {
        ["lo"] | ["wide"] => three(ty, move |a, b, c| (product(ty, a, b) as u64).wrapping_add(c)),
        ["hi"] => three(ty, move |a, b, c| high(ty, product(ty, a, b)).wrapping_add(c)),
        ["hi", "sat"] if ty.is_signed() => {
            three(ty, move |a, b, c| saturated(ty, (product(ty, a, b) >> ty.bits) + number(ty, c)))
        }
        _ => None,
    }
}

/// Returns the function that computes `mul24`: with `.lo` the low 32 bits of the product of two 24-bit numbers, with
/// `.hi` the 32 bits from bit 16 on.
fn product24(form: &Form<'_>) -> Option<impl Fn(u64, u64) -> u64 + Send + Sync + use<>> {
    let signed = form.ty().is_signed();
    let shift = match form.words.as_slice() {
        ["lo"] => 0,
        ["hi"] => 16,
        _ => return None,
    };
    let extend24 = move |bits: u64| if signed { sign_extend(bits, 24) } else { (bits & mask(24)) as i64 };
    Some(move |a, b| (extend24(a).wrapping_mul(extend24(b)) >> shift) as u64)
}

pub(super) fn mul24(form: &Form<'_>) -> Option<Compute> {
    two(form.ty(), product24(form)?)
}

pub(super) fn mad24(form: &Form<'_>) -> Option<Compute> {
    let product = product24(form)?;
    three(form.ty(), move |a, b, c| product(a, b).wrapping_add(c))
}

pub(super) fn div(form: &Form<'_>) -> Option<Compute> {
    let ty = plain(form)?;
    two(ty, move |a, b| match number(ty, b) {
        0 => u64::MAX,
        divisor => (number(ty, a) / divisor) as u64,
    })
}

pub(super) fn rem(form: &Form<'_>) -> Option<Compute> {
    let ty = plain(form).filter(|ty| ty.float().is_none())?;
    two(ty, move |a, b| match number(ty, b) {
        0 => u64::MAX,
        divisor => (number(ty, a) % divisor) as u64,
    })
}

pub(super) fn abs(form: &Form<'_>) -> Option<Compute> {
    let ty = plain(form)?;
    one(ty, move |a| number(ty, a).unsigned_abs() as u64)
}

pub(super) fn neg(form: &Form<'_>) -> Option<Compute> {
    one(plain(form)?, u64::wrapping_neg)
}

pub(super) fn extreme(form: &Form<'_>, greater: bool) -> Option<Compute> {
    let (ty, relu) = (form.ty(), form.has("relu"));
    if form.has("ftz") || form.has("NaN") {
        return None;
    }
    two(ty, move |a, b| {
        let ordered = if number(ty, a) < number(ty, b) { [a, b] } else { [b, a] };
        let chosen = ordered[usize::from(greater)];
        if relu && number(ty, chosen) < 0 { 0 } else { chosen }
    })
}

pub(super) fn sad(form: &Form<'_>) -> Option<Compute> {
    let ty = plain(form).filter(|ty| ty.float().is_none())?;
    three(ty, move |a, b, c| c.wrapping_add((number(ty, a) - number(ty, b)).unsigned_abs() as u64))
}

/// Returns the function by which a lane computes `dp4a`: the dot product of the four bytes of `a` and of `b`, plus `c`.
/// The opcode's two types are those of the bytes of `a` and of `b`.
pub(super) fn dot_bytes(form: &Form<'_>) -> Option<Compute> {
    let &[a_type, b_type] = form.types.as_slice() else { return None };
    let byte = |ty: Type, word: u64, at: u32| {
        let byte = word >> (8 * at) & 0xff;
        if ty.is_signed() { sign_extend(byte, 8) } else { byte as i64 }
    };
    three(form.ty(), move |a, b, c| {
        let sum: i64 = (0..4).map(|at| byte(a_type, a, at) * byte(b_type, b, at)).sum();
        c.wrapping_add(sum as u64)
    })
}
