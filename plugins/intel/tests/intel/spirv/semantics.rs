//! Semantics of emitted arithmetic that SPIR-V has no instruction for: the emitted words are evaluated and compared
//! with the operation's definition.

use crate::spirv::evaluate::evaluate;
use crate::spirv::kernels;
use tilewright_vendor_testkit::prelude::*;

/// The definition of a binary operation in Rust.
type Definition<T> = fn(T, T) -> T;

/// Checks byte permutes: source bytes 0 to 3 are from the first word, 4 to 7 from the second; nibble `i` of the
/// selector names the source of result byte `i`.
#[test]
fn bytes_are_permuted_as_their_selectors_say() {
    let (low, high) = (0x4433_2211_u64, 0x8877_6655_u64);
    let both = low | high << 32;
    let words = kernels::words(&kernels::compile(&kernels::permutes(16)).expect("it compiles"));
    let expected: Vec<u64> = kernels::SELECTORS
        .iter()
        .map(|selector| (0..4).map(|to| (both >> (8 * (selector >> (4 * to) & 7)) & 0xff) << (8 * to)).sum())
        .collect();
    assert_eq!(evaluate(&words, &[low, high]), expected);
}

fn bf16(bits: u16) -> f64 {
    f64::from(f32::from_bits(u32::from(bits) << 16))
}

/// Returns the `bf16` nearest to a number, by a search among all `bf16`; of two equally near ones the even one.
fn nearest(value: f64) -> u16 {
    const INFINITY: u16 = 0x7f80;
    let sign = if value.is_sign_negative() { 0x8000 } else { 0 };
    let magnitude = value.abs();
    let below = (0..INFINITY).collect::<Vec<_>>().partition_point(|&bits| bf16(bits) <= magnitude) as u16 - 1;
    // Infinity is as far from the greatest number as the next number would be.
    let step = bf16(INFINITY - 1) - bf16(INFINITY - 2);
    let above = if below == INFINITY - 1 { bf16(below) + step } else { bf16(below + 1) };
    let (down, up) = (magnitude - bf16(below), above - magnitude);
    let rounds_up = up < down || (up == down && below % 2 == 1);
    sign | if magnitude.is_infinite() { INFINITY } else { below + u16::from(rounds_up) }
}

#[test]
fn bf16_arithmetic_is_rounded_once_to_nearest_even() {
    let interesting: [u16; 24] = [
        0x0000, 0x8000, 0x0001, 0x8001, 0x007f, 0x0080, 0x3f80, 0x3f81, 0xbf80, 0x3f01, 0x4049, 0x3c00, 0x3b80, 0x3b81,
        0x7f7f, 0xff7f, 0x7f80, 0xff80, 0x7fc0, 0x7f81, 0x0100, 0x2000, 0x1fff, 0x5f80,
    ];
    let operations: [(Binary, Definition<f64>); 3] =
        [(Binary::FAdd, |a, b| a + b), (Binary::FSub, |a, b| a - b), (Binary::FMul, |a, b| a * b)];
    for (op, exact) in operations {
        let words = kernels::words(&kernels::compile(&kernels::binary(16, op, Element::Bf16, 1)).expect("it compiles"));
        for a in interesting {
            for b in interesting {
                let found = evaluate(&words, &[u64::from(a), u64::from(b)])[0] as u16;
                let expected = exact(bf16(a), bf16(b));
                if expected.is_nan() {
                    assert!(bf16(found).is_nan() && found & 0x40 != 0, "{op:?} {a:#06x} {b:#06x}: {found:#06x}");
                } else {
                    assert_eq!(found, nearest(expected), "{op:?} {a:#06x} {b:#06x}");
                }
            }
        }
    }
}

/// Checks that shifts by too much and divisions by zero, whose results the kernel IR leaves unspecified, are not
/// emitted as undefined SPIR-V. The evaluation fails on an undefined operation.
#[test]
fn nothing_undefined_is_emitted_for_unspecified_results() {
    for op in [Binary::Shl, Binary::ShrU, Binary::ShrS, Binary::DivU, Binary::RemU] {
        for element in [Element::I8, Element::I16, Element::I32, Element::I64] {
            let artifact = kernels::compile(&kernels::binary(16, op, element, 1)).expect("it compiles");
            for b in [0, 1, u64::from(element.bits()) - 1, u64::from(element.bits()), 0xff] {
                assert_eq!(evaluate(&kernels::words(&artifact), &[0x55, b]).len(), 1);
            }
        }
    }
}

/// Checks operations on one-bit integers against truth tables.
#[test]
fn bits_are_integers_of_one_bit() {
    let operations: [(Binary, Definition<u64>); 6] = [
        (Binary::Add, |a, b| (a + b) % 2),
        (Binary::Sub, |a, b| (2 + a - b) % 2),
        (Binary::Mul, |a, b| a * b),
        (Binary::And, |a, b| a & b),
        (Binary::Or, |a, b| a | b),
        (Binary::Xor, |a, b| a ^ b),
    ];
    for (op, expected) in operations {
        let words = kernels::words(&kernels::compile(&kernels::binary(16, op, Element::I1, 1)).expect("it compiles"));
        for (a, b) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
            assert_eq!(evaluate(&words, &[a, b]), [expected(a, b)], "{op:?} {a} {b}");
        }
    }
}
