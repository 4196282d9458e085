//! Integer arithmetic on the bits of values.

use super::bits::{UNSPECIFIED, map, mask, sign_extend, zip};
use tilewright_kernel::{Binary, Compare, Unary};

/// Applies an integer operation to each pair of elements of `a` and `b`, and writes the results to `to`. Each `u64` has
/// an element of `bits` bits, zero-extended.
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
        // Floating-point operations are in `float`.
        _ => {}
    }
}

/// Returns the quotient if it fits into `bits` bits as a signed integer; `None` otherwise.
fn signed_fit(bits: u32, quotient: Option<i64>) -> Option<i64> {
    quotient.filter(|&quotient| sign_extend(quotient as u64, bits) == quotient)
}

/// Applies an integer operation to each element of `a`, and writes the results to `to`. Each `u64` has an element of
/// `bits` bits, zero-extended.
pub(crate) fn integer_unary(op: Unary, bits: u32, a: &[u64], to: &mut [u64]) {
    match op {
        Unary::LeadingZeros => map(a, to, |x| u64::from(x.leading_zeros() - (64 - bits))),
        Unary::PopCount => map(a, to, |x| u64::from(x.count_ones())),
        // Floating-point operations are in `float`.
        _ => {}
    }
}

/// Compares each pair of integer elements of `a` and `b`, and writes 1 to `to` if the comparison holds, else 0. Each
/// element has `bits` bits, zero-extended.
pub(crate) fn compare(op: Compare, bits: u32, a: &[u64], b: &[u64], to: &mut [u64]) {
    let signed = |x| sign_extend(x, bits);
    match op {
        Compare::Eq => zip(a, b, to, |x, y| u64::from(x == y)),
        Compare::Ne => zip(a, b, to, |x, y| u64::from(x != y)),
        Compare::LtU => zip(a, b, to, |x, y| u64::from(x < y)),
        Compare::LeU => zip(a, b, to, |x, y| u64::from(x <= y)),
        Compare::LtS => zip(a, b, to, |x, y| u64::from(signed(x) < signed(y))),
        Compare::LeS => zip(a, b, to, |x, y| u64::from(signed(x) <= signed(y))),
        // Floating-point comparisons are in `float`.
        _ => {}
    }
}

/// Selects four of the eight bytes of two 32-bit words, as CUDA's `__byte_perm`: nibble `i` of `selector` gives the
/// source of byte `i` of the result, 0 to 3 for the bytes of `a` and 4 to 7 for those of `b`.
pub(crate) fn permute_bytes(a: u64, b: u64, selector: u16) -> u64 {
    let bytes = (a & 0xffff_ffff) | b << 32;
    (0..4).fold(0, |word, byte| {
        let from = u64::from(selector >> (4 * byte) & 0x7);
        word | (bytes >> (8 * from) & 0xff) << (8 * byte)
    })
}
