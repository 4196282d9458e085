//! Integer arithmetic on the bits of values.

use super::float::float;
use tilewright_kernel::{Atomic, Binary, Compare, Element, Unary};

/// The lowest bits of an element.
pub(crate) fn mask(bits: u32) -> u64 {
    if bits >= 64 { u64::MAX } else { (1 << bits) - 1 }
}

/// The value of `bits` bits, sign-extended.
pub(crate) fn sign_extend(value: u64, bits: u32) -> i64 {
    let shift = 64 - bits;
    ((value << shift) as i64) >> shift
}

/// Stands for an unspecified value: one that no hardware gives, so that whoever relies on it notices.
pub(super) const UNSPECIFIED: u64 = 0xa5a5_a5a5_a5a5_a5a5;

/// Applies an integer operation to every pair of elements.
pub(crate) fn integer(op: Binary, bits: u32, a: &[u64], b: &[u64], to: &mut [u64]) {
    let mask = mask(bits);
    let width = u64::from(bits);
    match op {
        Binary::Add => zip(a, b, to, |x, y| x.wrapping_add(y) & mask),
        Binary::Sub => zip(a, b, to, |x, y| x.wrapping_sub(y) & mask),
        Binary::Mul => zip(a, b, to, |x, y| x.wrapping_mul(y) & mask),
        Binary::And => zip(a, b, to, |x, y| x & y),
        Binary::Or => zip(a, b, to, |x, y| x | y),
        Binary::Xor => zip(a, b, to, |x, y| x ^ y),
        Binary::Shl => zip(a, b, to, |x, y| (if y < width { x << y } else { UNSPECIFIED }) & mask),
        Binary::ShrU => zip(a, b, to, |x, y| (if y < width { x >> y } else { UNSPECIFIED }) & mask),
        Binary::ShrS => {
            let shifted = |x, y| (sign_extend(x, bits) >> y) as u64;
            zip(a, b, to, |x, y| (if y < width { shifted(x, y) } else { UNSPECIFIED }) & mask);
        }
        Binary::DivU => zip(a, b, to, |x, y| x.checked_div(y).unwrap_or(UNSPECIFIED & mask)),
        Binary::RemU => zip(a, b, to, |x, y| x.checked_rem(y).unwrap_or(UNSPECIFIED & mask)),
        Binary::DivS => zip(a, b, to, |x, y| {
            signed_fit(bits, sign_extend(x, bits).checked_div(sign_extend(y, bits))).map_or(UNSPECIFIED, |q| q as u64)
                & mask
        }),
        Binary::RemS => zip(a, b, to, |x, y| {
            let (x, y) = (sign_extend(x, bits), sign_extend(y, bits));
            let quotient = signed_fit(bits, x.checked_div(y));
            quotient.map_or(UNSPECIFIED, |quotient| (x - quotient * y) as u64) & mask
        }),
        Binary::MulHighU => zip(a, b, to, |x, y| ((u128::from(x) * u128::from(y)) >> bits) as u64 & mask),
        Binary::MulHighS => {
            let wide = |x| i128::from(sign_extend(x, bits));
            zip(a, b, to, |x, y| ((wide(x) * wide(y)) >> bits) as u64 & mask);
        }
        // The others are of floating-point numbers.
        _ => {}
    }
}

/// A quotient where it fits.
fn signed_fit(bits: u32, quotient: Option<i64>) -> Option<i64> {
    quotient.filter(|&quotient| sign_extend(quotient as u64, bits) == quotient)
}

/// Applies an operation to every integer.
pub(crate) fn integer_unary(op: Unary, bits: u32, a: &[u64], to: &mut [u64]) {
    match op {
        Unary::LeadingZeros => map(a, to, |x| u64::from(x.leading_zeros() - (64 - bits))),
        Unary::PopCount => map(a, to, |x| u64::from(x.count_ones())),
        // The others are of floating-point numbers.
        _ => {}
    }
}

/// What an atomic operation writes.
pub(crate) fn atomic(op: Atomic, element: Element, old: u64, value: u64) -> u64 {
    let bits = element.bits();
    let of = |op: Binary| {
        let mut to = [0];
        match op.is_float() {
            true => float(op, element, &[old], &[value], &mut to),
            false => integer(op, bits, &[old], &[value], &mut to),
        }
        to[0]
    };
    let least = |first: bool| if first { old } else { value };
    match op {
        Atomic::Add => of(Binary::Add),
        Atomic::FAdd => of(Binary::FAdd),
        Atomic::And => of(Binary::And),
        Atomic::Or => of(Binary::Or),
        Atomic::Xor => of(Binary::Xor),
        Atomic::MinU => least(old < value),
        Atomic::MaxU => least(old > value),
        Atomic::MinS => least(sign_extend(old, bits) < sign_extend(value, bits)),
        Atomic::MaxS => least(sign_extend(old, bits) > sign_extend(value, bits)),
        Atomic::Exchange => value,
    }
}

/// Compares every pair of elements.
pub(crate) fn compare(op: Compare, bits: u32, a: &[u64], b: &[u64], to: &mut [u64]) {
    let signed = |x| sign_extend(x, bits);
    match op {
        Compare::Eq => zip(a, b, to, |x, y| u64::from(x == y)),
        Compare::Ne => zip(a, b, to, |x, y| u64::from(x != y)),
        Compare::LtU => zip(a, b, to, |x, y| u64::from(x < y)),
        Compare::LeU => zip(a, b, to, |x, y| u64::from(x <= y)),
        Compare::LtS => zip(a, b, to, |x, y| u64::from(signed(x) < signed(y))),
        Compare::LeS => zip(a, b, to, |x, y| u64::from(signed(x) <= signed(y))),
        // The others are of floating-point numbers.
        _ => {}
    }
}

/// Four bytes of the eight of `a` and `b`.
pub(crate) fn permute_bytes(a: u64, b: u64, selector: u16) -> u64 {
    let bytes = (a & 0xffff_ffff) | b << 32;
    (0..4).fold(0, |word, byte| {
        let from = u64::from(selector >> (4 * byte) & 0x7);
        word | (bytes >> (8 * from) & 0xff) << (8 * byte)
    })
}

pub(super) fn zip(a: &[u64], b: &[u64], to: &mut [u64], f: impl Fn(u64, u64) -> u64) {
    for ((to, &x), &y) in to.iter_mut().zip(a).zip(b) {
        *to = f(x, y);
    }
}

pub(super) fn map(a: &[u64], to: &mut [u64], f: impl Fn(u64) -> u64) {
    for (to, &x) in to.iter_mut().zip(a) {
        *to = f(x);
    }
}
