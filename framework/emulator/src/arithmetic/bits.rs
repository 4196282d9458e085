//! Bits of elements, and element-wise application of functions.

/// Returns a mask of the lowest `bits` bits.
pub(crate) fn mask(bits: u32) -> u64 {
    if bits >= 64 { u64::MAX } else { (1 << bits) - 1 }
}

/// Sign-extends the low `bits` bits of `value` to 64 bits.
pub(crate) fn sign_extend(value: u64, bits: u32) -> i64 {
    let shift = 64 - bits;
    ((value << shift) as i64) >> shift
}

/// Bit pattern that stands for an unspecified value. No hardware produces it, so a kernel that relies on the value
/// fails visibly.
pub(crate) const UNSPECIFIED: u64 = 0xa5a5_a5a5_a5a5_a5a5;

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
