//! What operations compute, one element at a time, on bits.
//!
//! Floating point: `f32` and `f64` are the host's own. `f16` and `bf16` are computed in `f32` and
//! rounded once more, which gives the correctly rounded result: for sums, differences and products
//! of operands of p bits, rounding to 2p + 2 bits or more first does no harm (Figueroa, 1995), and
//! f32 has 24 bits where 2 * 11 + 2 and 2 * 8 + 2 are needed. Below f32's normal range, where its
//! precision is less, sums are exact, being multiples of the least operand. Only products of `bf16`
//! are not exact there; they have 16 bits, so that one of at least half the least `bf16` (2^-134) is
//! exact in f32, and a smaller one becomes at most that half, which goes to zero, the even neighbour.
//! A NaN result is always the positive quiet one without payload, since hardware differs.

use half::{bf16, f16};

use crate::kernel::{Binary, Compare, Element};

/// The lowest bits of an element.
pub(super) fn mask(bits: u32) -> u64 {
    if bits >= 64 { u64::MAX } else { (1 << bits) - 1 }
}

/// The value of `bits` bits, sign-extended.
pub(super) fn sign_extend(value: u64, bits: u32) -> i64 {
    let shift = 64 - bits;
    ((value << shift) as i64) >> shift
}

/// Stands for an unspecified value: one that no hardware gives, so that whoever relies on it notices.
const UNSPECIFIED: u64 = 0xa5a5_a5a5_a5a5_a5a5;

/// Applies an integer operation to every pair of elements.
pub(super) fn integer(op: Binary, bits: u32, a: &[u64], b: &[u64], to: &mut [u64]) {
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
        Binary::FAdd | Binary::FSub | Binary::FMul => {}
    }
}

/// Applies a floating-point operation to every pair of elements.
pub(super) fn float(op: Binary, element: Element, a: &[u64], b: &[u64], to: &mut [u64]) {
    match op {
        Binary::FAdd => rounded(element, a, b, to, |x, y| x + y, |x, y| x + y),
        Binary::FSub => rounded(element, a, b, to, |x, y| x - y, |x, y| x - y),
        Binary::FMul => rounded(element, a, b, to, |x, y| x * y, |x, y| x * y),
        _ => {}
    }
}

fn rounded(
    element: Element,
    a: &[u64],
    b: &[u64],
    to: &mut [u64],
    single: impl Fn(f32, f32) -> f32,
    double: impl Fn(f64, f64) -> f64,
) {
    match element {
        Element::F16 => zip(a, b, to, |x, y| {
            let result = single(f16::from_bits(x as u16).to_f32(), f16::from_bits(y as u16).to_f32());
            u64::from(if result.is_nan() { 0x7e00 } else { f16::from_f32(result).to_bits() })
        }),
        Element::Bf16 => zip(a, b, to, |x, y| {
            let result = single(bf16::from_bits(x as u16).to_f32(), bf16::from_bits(y as u16).to_f32());
            u64::from(if result.is_nan() { 0x7fc0 } else { bf16::from_f32(result).to_bits() })
        }),
        Element::F32 => zip(a, b, to, |x, y| {
            let result = single(f32::from_bits(x as u32), f32::from_bits(y as u32));
            u64::from(if result.is_nan() { 0x7fc0_0000 } else { result.to_bits() })
        }),
        _ => zip(a, b, to, |x, y| {
            let result = double(f64::from_bits(x), f64::from_bits(y));
            if result.is_nan() { 0x7ff8_0000_0000_0000 } else { result.to_bits() }
        }),
    }
}

/// Compares every pair of elements.
pub(super) fn compare(op: Compare, bits: u32, a: &[u64], b: &[u64], to: &mut [u64]) {
    let signed = |x| sign_extend(x, bits);
    match op {
        Compare::Eq => zip(a, b, to, |x, y| u64::from(x == y)),
        Compare::Ne => zip(a, b, to, |x, y| u64::from(x != y)),
        Compare::LtU => zip(a, b, to, |x, y| u64::from(x < y)),
        Compare::LeU => zip(a, b, to, |x, y| u64::from(x <= y)),
        Compare::LtS => zip(a, b, to, |x, y| u64::from(signed(x) < signed(y))),
        Compare::LeS => zip(a, b, to, |x, y| u64::from(signed(x) <= signed(y))),
    }
}

/// Four bytes of the eight of `a` and `b`.
pub(super) fn permute_bytes(a: u64, b: u64, selector: u16) -> u64 {
    let bytes = (a & 0xffff_ffff) | b << 32;
    (0..4).fold(0, |word, byte| {
        let from = u64::from(selector >> (4 * byte) & 0x7);
        word | (bytes >> (8 * from) & 0xff) << (8 * byte)
    })
}

fn zip(a: &[u64], b: &[u64], to: &mut [u64], f: impl Fn(u64, u64) -> u64) {
    for ((to, &x), &y) in to.iter_mut().zip(a).zip(b) {
        *to = f(x, y);
    }
}
