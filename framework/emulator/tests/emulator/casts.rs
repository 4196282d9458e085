//! Casts to floating-point types, compared with the nearest value among all values of the type, and with the host's
//! conversions.

use tilewright_testkit::emulator_target;

use emulator_target::target;
use half::{bf16, f16};
use tilewright_emulator::{Argument, GlobalMemory, RunLimits, run_kernel};
use tilewright_kernel::{Builder, Cast, Element, MemorySpace, StaticLaunchConfig, Type};

/// Casts the value with these bits by a kernel on the emulator; returns the bits of the result.
fn cast(op: Cast, from: Element, to: Element, bits: u64) -> u64 {
    let pointer = Type::Pointer(MemorySpace::Global);
    let mut builder = Builder::new("cast", StaticLaunchConfig::new(8, 1), &[("to", pointer)]);
    let value = builder.constant(Type::Scalar(from), bits);
    let value = builder.cast(op, value, Type::Scalar(to));
    let to_pointer = builder.parameter(0);
    builder.store(to_pointer, 0, value, None);
    let mut memory = GlobalMemory::new();
    let result = memory.allocate((to.bits() / 8) as usize);
    let done = run_kernel(
        &builder.finish(),
        &target(true),
        [1, 1, 1],
        &[Argument::Buffer(result)],
        &mut memory,
        &RunLimits::default(),
    );
    done.unwrap_or_else(|fault| panic!("{fault}"));
    memory.read_all(result).expect("it is written").iter().rev().fold(0, |packed, &byte| packed << 8 | u64::from(byte))
}

/// Returns the bits of the finite 16-bit floating-point value that is nearest to `value`, with ties to even. `decode`
/// gives the number that 16 bits stand for.
fn nearest(value: f64, decode: fn(u16) -> f64) -> u64 {
    let finite =
        (0..=u16::MAX).filter(|&bits| decode(bits).is_finite() && (decode(bits).is_sign_negative() == (value < 0.0)));
    let by_distance = |&bits: &u16| ((decode(bits) - value).abs(), bits & 1);
    u64::from(finite.min_by(|a, b| by_distance(a).partial_cmp(&by_distance(b)).expect("finite")).expect("some"))
}

const HALF: fn(u16) -> f64 = |bits| f16::from_bits(bits).to_f64();
const BRAIN: fn(u16) -> f64 = |bits| bf16::from_bits(bits).to_f64();

/// Returns numbers at and next to the midpoints between two values of `f16` or `bf16`, where rounding decides ties.
fn values() -> Vec<f64> {
    let units = [1.0, 1.5, 3.0, 1024.0, 2f64.powi(-15), 2f64.powi(-24), 1.0 + 2f64.powi(-10)];
    let relative_offsets = [
        0.0,
        2f64.powi(-11),
        2f64.powi(-9),
        2f64.powi(-8),
        2f64.powi(-11) + 2f64.powi(-20),
        2f64.powi(-11) - 2f64.powi(-30),
    ];
    units
        .iter()
        .flat_map(|unit| relative_offsets.map(|relative_offset| unit * (1.0 + relative_offset)))
        .flat_map(|value| [value, -value])
        .collect()
}

#[test]
fn rounding_gives_the_nearest_number() {
    for value in values() {
        for (to, decode) in [(Element::F16, HALF), (Element::Bf16, BRAIN)] {
            assert_eq!(cast(Cast::RoundF, Element::F64, to, value.to_bits()), nearest(value, decode), "{value} {to:?}");
            let single = value as f32;
            let found = cast(Cast::RoundF, Element::F32, to, single.to_bits().into());
            assert_eq!(found, nearest(single.into(), decode), "{single} {to:?}");
        }
        let found = cast(Cast::RoundF, Element::F64, Element::F32, value.to_bits());
        assert_eq!(found, u64::from((value as f32).to_bits()));
    }
}

#[test]
fn extending_is_exact() {
    for bits in (0..=u16::MAX).step_by(97).filter(|&bits| HALF(bits).is_finite() && BRAIN(bits).is_finite()) {
        for (from, value) in [(Element::F16, HALF(bits)), (Element::Bf16, BRAIN(bits))] {
            assert_eq!(f64::from_bits(cast(Cast::ExtendF, from, Element::F64, bits.into())), value);
            let single = cast(Cast::ExtendF, from, Element::F32, bits.into());
            assert_eq!(f64::from(f32::from_bits(single as u32)), value);
        }
    }
    assert_eq!(cast(Cast::ExtendF, Element::F16, Element::F32, 0xfc00), u64::from(f32::NEG_INFINITY.to_bits()));
    assert!(f64::from_bits(cast(Cast::ExtendF, Element::F16, Element::F64, 0x7c01)).is_nan());
}

#[test]
fn integers_become_the_nearest_number() {
    for value in [
        0i64,
        1,
        -1,
        127,
        -128,
        2049,
        -2051,
        32_767,
        65_519,
        16_777_217,
        -33_554_435,
        i64::MAX,
        i64::MIN,
        (1 << 53) + 1,
        (1 << 55) + 1,
    ] {
        let bits = value.cast_unsigned();
        assert_eq!(cast(Cast::FloatS, Element::I64, Element::F64, bits), (value as f64).to_bits());
        assert_eq!(cast(Cast::FloatU, Element::I64, Element::F64, bits), (bits as f64).to_bits());
        assert_eq!(cast(Cast::FloatS, Element::I64, Element::F32, bits), u64::from((value as f32).to_bits()));
        if value.unsigned_abs() <= 65_519 {
            assert_eq!(cast(Cast::FloatS, Element::I64, Element::F16, bits), nearest(value as f64, HALF), "{value}");
        }
    }
    // If rounded twice, 2^32 + 2^24 + 1 would be a tie of `bf16` and become the even 2^32.
    let just_above = (1u64 << 32) + (1 << 24) + 1;
    assert_eq!(cast(Cast::FloatU, Element::I64, Element::Bf16, just_above), nearest(just_above as f64, BRAIN));
    assert_eq!(cast(Cast::FloatS, Element::I8, Element::F32, 0x80), u64::from((-128f32).to_bits()));
    assert_eq!(cast(Cast::FloatU, Element::I8, Element::F32, 0x80), u64::from(128f32.to_bits()));
}
