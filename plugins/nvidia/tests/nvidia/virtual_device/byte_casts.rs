//! Casts between 8-bit floating-point formats and wider types by `cvt`, two elements at a time: all 256 encodings, all
//! numbers of 16 bits and many of 32, on the virtual device and on the emulator. The expected values are those of the
//! OCP 8-bit Floating Point Specification, and the nearest of them, found by search.

use super::bench::{Given, Shape, device_of, run_on};
use crate::prelude::*;
use half::{bf16, f16};
use tilewright_kernel::{Builder, Value};
use tilewright_math::casts::NativeCasts;
use tilewright_target::FloatFormat;
use tilewright_vendor_testkit::emulated;
use tilewright_vendor_testkit::kernels::GLOBAL_POINTER;

const WARPS: u32 = 8;

/// An 8-bit format of the OCP 8-bit Floating Point Specification.
#[derive(Debug, Clone, Copy)]
struct Ocp {
    format: FloatFormat,
    name: &'static str,
    mantissa: u32,
    bias: i32,
    /// Whether the highest exponent encodes infinity and NaN; otherwise only the highest encoding is NaN.
    is_ieee: bool,
}

const E4M3: Ocp = Ocp { format: FloatFormat::E4M3, name: "e4m3x2", mantissa: 3, bias: 7, is_ieee: false };
const E5M2: Ocp = Ocp { format: FloatFormat::E5M2, name: "e5m2x2", mantissa: 2, bias: 15, is_ieee: true };

impl Ocp {
    fn value(self, bits: u8) -> f64 {
        let (magnitude, ones) = (i32::from(bits & 0x7f), (1 << self.mantissa) - 1);
        let (exponent, fraction) = (magnitude >> self.mantissa, magnitude & ones);
        let top = 0x7f >> self.mantissa;
        let is_special = exponent == top && (self.is_ieee || fraction == ones);
        let number = match (is_special, self.is_ieee && fraction == 0) {
            (true, true) => f64::INFINITY,
            (true, false) => f64::NAN,
            _ if exponent == 0 => f64::from(fraction) * 2f64.powi(1 - self.bias - self.mantissa as i32),
            _ => f64::from(fraction + ones + 1) * 2f64.powi(exponent - self.bias - self.mantissa as i32),
        };
        if bits & 0x80 == 0 { number } else { -number }
    }

    /// Returns the finite number nearest to `value`, of two equally near ones the even one; a NaN for a NaN.
    fn nearest(self, value: f64) -> u8 {
        if value.is_nan() {
            return 0x7f;
        }
        let finite = (0..0x80u8).filter(|&bits| self.value(bits).is_finite());
        let distance = |bits: u8| (self.value(bits) - value.abs().min(1e9)).abs();
        let best = finite.min_by(|&a, &b| distance(a).total_cmp(&distance(b)).then((a & 1).cmp(&(b & 1)))).unwrap();
        best | if value.is_sign_negative() { 0x80 } else { 0 }
    }
}

/// Returns a kernel whose lanes each convert `count` elements of the first buffer to elements of the second.
fn kernel(target: &NvidiaTarget, (format, extends): (FloatFormat, bool), wide: Element, count: u32) -> Kernel {
    let native = NativeCasts::from_target(target.description());
    casting_kernel(if extends { (Element::I8, wide) } else { (wide, Element::I8) }, count, |k, values| {
        let converted = match extends {
            true => native.extend(k, &values, format, wide),
            false => native.round(k, &values, format),
        };
        converted.expect("the target has an instruction")
    })
}

/// As [`kernel`]; `convert` emits the conversion.
pub(super) fn casting_kernel(
    (from, to): (Element, Element),
    count: u32,
    convert: impl FnOnce(&mut Builder, Vec<Value>) -> Vec<Value>,
) -> Kernel {
    let mut k =
        Builder::new("k", StaticLaunchConfig::new(32, WARPS), &[("from", GLOBAL_POINTER), ("to", GLOBAL_POINTER)]);
    let [program, warp, lane] =
        [SpecialRegister::Program(0), SpecialRegister::Warp, SpecialRegister::Lane].map(|register| k.special(register));
    let first = k.binary_const(Binary::Mul, program, WARPS);
    let first = k.binary(Binary::Add, first, warp);
    let first = k.binary_const(Binary::Mul, first, 32);
    let first = k.binary(Binary::Add, first, lane);
    let [from_at, to_at] = [(0, from), (1, to)].map(|(index, element)| {
        let bytes = k.binary_const(Binary::Mul, first, count * element.bits() / 8);
        let at = k.parameter(index);
        k.ptr_add(at, bytes)
    });
    let loaded = k.load(Type::vector_or_scalar(from, count), from_at, 0, None);
    let values: Vec<_> = (0..count).map(|index| k.extract(loaded, index)).collect();
    let converted = convert(&mut k, values);
    let converted = k.pack(&converted);
    k.store(to_at, 0, converted, None);
    k.finish()
}

/// Converts the elements in `from` on a target and checks that `found` occurs in the PTX as often as `times`. Returns
/// the results of the virtual device, and of the emulator for the first block.
pub(super) fn converted(
    target: &str,
    kernel_of: impl Fn(&NvidiaTarget) -> Kernel,
    from: &[u8],
    to_bytes: usize,
    blocks: u32,
    (found, times): (&str, usize),
) -> [Vec<u8>; 2] {
    let (target, mut device) = device_of(target);
    let kernel = kernel_of(&target);
    let options = CompileOptions { emit: vec![CodeFormat::Assembly], optimisation: 3, ..CompileOptions::default() };
    let artifact = target.compile(&Module { kernels: vec![kernel.clone()] }, &options).unwrap();
    let ptx = artifact.payload_text(CodeFormat::Assembly).unwrap();
    assert_eq!(ptx.matches(found).count(), times, "{found}: {ptx}");
    let shape = Shape { grid: [blocks, 1, 1], ..Shape::warps(WARPS) };
    let given = [Given::Buffer(from.to_vec()), Given::Buffer(vec![0; to_bytes])];
    let (mut left, _) = run_on(&mut device, ptx, "k", shape, &given).unwrap();
    let one = to_bytes / blocks as usize;
    let given = [emulated::InitialBuffer::Bytes(from.to_vec()), emulated::InitialBuffer::Bytes(vec![0; to_bytes])];
    let (emulated, _) = emulated::run_block(&target, &kernel, &given, &[]).unwrap();
    [left.swap_remove(1), emulated[1][..one].to_vec()]
}

#[test]
fn all_bytes_are_extended_exactly() {
    for format in [E4M3, E5M2] {
        for (wide, count) in [(Element::F16, 1), (Element::F16, 4), (Element::Bf16, 2), (Element::F32, 4)] {
            let elements = 32 * WARPS as usize * count as usize;
            let from: Vec<u8> = (0..elements).map(|at| at as u8).collect();
            let instruction = format!("cvt.rn.f16x2.{} ", format.name.trim());
            let kernel_of = |target: &NvidiaTarget| kernel(target, (format.format, true), wide, count);
            let times = (count as usize).div_ceil(2);
            let bytes = wide.bits() as usize / 8;
            let found = converted("h100", kernel_of, &from, elements * bytes, 1, (instruction.trim(), times));
            let found = found.iter().flat_map(|found| from.iter().zip(found.chunks_exact(bytes)));
            for (&from, found) in found {
                let found = match wide {
                    Element::F16 => f16::from_le_bytes(found.try_into().unwrap()).to_f64(),
                    Element::Bf16 => bf16::from_le_bytes(found.try_into().unwrap()).to_f64(),
                    _ => f32::from_le_bytes(found.try_into().unwrap()).into(),
                };
                let expected = format.value(from);
                let is_equal = expected.is_nan() && found.is_nan() || expected.to_bits() == found.to_bits();
                assert!(is_equal, "{from:#x} of {} to {wide:?}: {found}, not {expected}", format.name);
            }
        }
    }
}

#[test]
fn every_f16_and_bf16_is_rounded_to_the_nearest_byte() {
    for format in [E4M3, E5M2] {
        for (wide, instruction) in [(Element::F16, "f16x2"), (Element::Bf16, "f32")] {
            let from: Vec<u8> = (0..=u16::MAX).flat_map(u16::to_le_bytes).collect();
            let instruction = format!("cvt.rn.satfinite.{}.{instruction}", format.name);
            let kernel_of = |target: &NvidiaTarget| kernel(target, (format.format, false), wide, 4);
            let found = converted("h100", kernel_of, &from, 1 << 16, 1 << 6, (&instruction, 2));
            for (bits, found) in found.into_iter().flat_map(|found| (0..=u16::MAX).zip(found)) {
                let value =
                    if wide == Element::F16 { f16::from_bits(bits).to_f64() } else { bf16::from_bits(bits).to_f64() };
                assert_eq!(found, format.nearest(value), "{value} to {}", format.name);
            }
        }
    }
}

/// On a target without conversions of 8-bit floats, `e5m2` numbers are the upper bytes of `f16` numbers.
#[test]
fn pairs_of_e5m2_are_rounded_and_extended_in_words() {
    for (wide, instruction) in
        [(Element::F16, ("min.f16x2", 2)), (Element::Bf16, ("cvt.rz.f16x2.f32", 2)), (Element::F32, (", 65535;", 4))]
    {
        let from = if wide == Element::F32 { singles(E5M2) } else { (0..1 << 16).collect() };
        let bytes: Vec<u8> =
            from.iter().flat_map(|bits| bits.to_le_bytes()[..wide.bits() as usize / 8].to_vec()).collect();
        let kernel_of = |target: &NvidiaTarget| kernel(target, (E5M2.format, false), wide, 4);
        let found = converted("a100", kernel_of, &bytes, from.len(), from.len() as u32 / 1024, instruction);
        for (&bits, found) in found.iter().flat_map(|found| from.iter().zip(found)) {
            let value = match wide {
                Element::F16 => f16::from_bits(bits as u16).to_f64(),
                Element::Bf16 => bf16::from_bits(bits as u16).to_f64(),
                _ => f32::from_bits(bits).into(),
            };
            let is_nan = value.is_nan() && E5M2.value(*found).is_nan();
            assert!(is_nan || *found == E5M2.nearest(value), "{value} to e5m2: {found:#x}");
        }
    }
    let from: Vec<u8> = (0..1024u32).map(|at| at as u8).collect();
    let kernel_of = |target: &NvidiaTarget| kernel(target, (E5M2.format, true), Element::F16, 4);
    let found = converted("a100", kernel_of, &from, 2048, 1, ("prmt.b32", 2));
    for (&from, found) in found.iter().flat_map(|found| from.iter().zip(found.chunks_exact(2))) {
        let (found, expected) = (f16::from_le_bytes(found.try_into().unwrap()).to_f64(), E5M2.value(from));
        assert!(expected.is_nan() && found.is_nan() || expected.to_bits() == found.to_bits(), "{from:#x}: {found}");
    }
}

/// Returns 4096 encodings of `f32` numbers: the numbers of a format, midpoints and their neighbours, and others spread over
/// all encodings.
fn singles(format: Ocp) -> Vec<u32> {
    let mut values: Vec<u32> = Vec::new();
    for bits in 0..0x7f {
        let [a, b] = [bits, bits + 1].map(|bits| format.value(bits));
        for value in [a, (a + b) / 2.0] {
            let bits = (value as f32).to_bits();
            values.extend([bits.wrapping_sub(1), bits, bits + 1].into_iter().flat_map(|bits| [bits, bits ^ 1 << 31]));
        }
    }
    let rest = (1 << 12) - values.len();
    values.extend((0..).map(|at: u32| at.wrapping_mul(0x9e37_79b9)).take(rest));
    values
}

#[test]
fn singles_are_rounded_to_the_nearest_byte() {
    for format in [E4M3, E5M2] {
        let values = singles(format);
        let elements = values.len();
        let from: Vec<u8> = values.iter().flat_map(|bits| bits.to_le_bytes()).collect();
        let instruction = format!("cvt.rn.satfinite.{}.f32", format.name);
        let kernel_of = |target: &NvidiaTarget| kernel(target, (format.format, false), Element::F32, 2);
        let found = converted("h100", kernel_of, &from, elements, elements as u32 / 512, (&instruction, 1));
        for (bits, found) in found.iter().flat_map(|found| values.iter().zip(found)) {
            let (bits, found) = (*bits, *found);
            let value = f32::from_bits(bits);
            assert_eq!(found, format.nearest(value.into()), "{value} to {}", format.name);
        }
    }
}
