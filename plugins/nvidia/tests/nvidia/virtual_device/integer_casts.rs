//! Casts of 32-bit integers to `bf16`, which round once, on processors with and without an instruction for it. The
//! expected values are rounded by integer arithmetic.

use super::byte_casts::{casting_kernel, converted};
use crate::prelude::*;
use half::bf16;

/// Returns the `bf16` number nearest to an integer, of two equally near ones the even one.
fn nearest(value: i64) -> bf16 {
    let magnitude = value.unsigned_abs();
    let dropped = (64 - magnitude.leading_zeros()).saturating_sub(8);
    let (kept, rest) = (magnitude >> dropped, magnitude & ((1 << dropped) - 1));
    let is_up = 2 * rest > 1 << dropped || 2 * rest == 1 << dropped && kept % 2 == 1;
    let rounded = ((kept + u64::from(is_up)) << dropped) as f64;
    bf16::from_f64(if value < 0 { -rounded } else { rounded })
}

/// Returns 4096 integers: ties and integers near them, of each magnitude, and others spread over all integers.
fn integers() -> Vec<u32> {
    let near = [0, 1, 2, 127, 128, 129, 255, 256, 257, 511];
    let mut all = vec![0, 1, u32::MAX, i32::MAX as u32, i32::MIN as u32];
    for (exponent, kept) in (8..32).flat_map(|exponent| [0, 1, 126, 127].map(|kept| (exponent, kept))) {
        let tie = (1u32 << exponent) + (kept << (exponent - 7)) + (1 << (exponent - 8));
        let around = near.iter().flat_map(|&by: &u32| [tie.wrapping_add(by), tie.wrapping_sub(by)]);
        all.extend(around.flat_map(|value| [value, value.wrapping_neg()]));
    }
    let rest = (1 << 12) - all.len();
    all.extend((0..).map(|at: u32| at.wrapping_mul(0x9e37_79b9)).take(rest));
    all
}

#[test]
fn integers_are_rounded_once_to_bf16() {
    let all = integers();
    let bytes: Vec<u8> = all.iter().flat_map(|bits| bits.to_le_bytes()).collect();
    for (target, cast, instruction) in [
        ("a100", Cast::FloatS, "cvt.rz.f32.s32"),
        ("a100", Cast::FloatU, "cvt.rz.f32.u32"),
        ("rtx4090", Cast::FloatS, "cvt.rz.f32.s32"),
        ("h100", Cast::FloatS, "cvt.rn.bf16.s32"),
        ("h100", Cast::FloatU, "cvt.rn.bf16.u32"),
    ] {
        let kernel_of = |_: &NvidiaTarget| {
            casting_kernel((Element::I32, Element::Bf16), 4, |k, values| {
                let packed = k.pack(&values);
                let numbers = k.cast(cast, packed, Type::Vector(Element::Bf16, 4));
                (0..4).map(|index| k.extract(numbers, index)).collect()
            })
        };
        let found = converted(target, kernel_of, &bytes, 2 * all.len(), all.len() as u32 / 1024, (instruction, 4));
        for (&bits, found) in found.iter().flat_map(|found| all.iter().zip(found.chunks_exact(2))) {
            let value = if cast == Cast::FloatS { i64::from(bits as i32) } else { i64::from(bits) };
            let found = bf16::from_le_bytes(found.try_into().unwrap());
            assert_eq!(found, nearest(value), "{value} on {target}");
        }
    }
}
