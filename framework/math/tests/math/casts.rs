//! Casts to narrow types, compared with the nearest value among all values of the type.

use tilewright_testkit::elementwise;
use tilewright_testkit::emulator_target::target;

use half::{bf16, f16};
use tilewright_kernel::{Binary, Cast, Element, Type};
use tilewright_math::casts::{
    NarrowRounding, NativeCasts, Overflow, carrier_type, emit_cast, emit_round_to_format, emit_round_to_odd_f32,
    emit_widen_to_f32, is_cast_supported,
};
use tilewright_target::{ElementType, FloatFormat};

const EIGHT_BITS: [&str; 4] = ["e4m3", "e5m2", "fp8_fnuz", "bf8_fnuz"];
const NARROW: [&str; 9] = ["e4m3", "e5m2", "fp8_fnuz", "bf8_fnuz", "e2m1", "e2m3", "e3m2", "f16", "bf16"];

fn format(name: &str) -> FloatFormat {
    match ElementType::from_name(name) {
        Some(ElementType::Float(format)) => format,
        other => panic!("{name}: {other:?}"),
    }
}

/// The finite non-negative values of a type with their bits, in ascending order. `next` is the value that would follow
/// the greatest one if the exponent range were extended: values that round to `next` overflow.
struct Numbers {
    all: Vec<(f64, u64)>,
    next: f64,
    nan: Option<u64>,
    infinity: Option<u64>,
    sign: u64,
    has_negative_zero: bool,
}

impl Numbers {
    fn of(format: FloatFormat) -> Self {
        let sign = 1u64 << format.field_widths()[..2].iter().sum::<u32>();
        let all: Vec<(f64, u64)> =
            (0..sign).map(|bits| (format.decode(bits), bits)).filter(|(value, _)| value.is_finite()).collect();
        assert!(all.windows(2).all(|pair| pair[0].0 < pair[1].0), "in order");
        let [before, last] = [all[all.len() - 2].0, all[all.len() - 1].0];
        let find = |test: fn(f64) -> bool| (0..2 * sign).find(|&bits| test(format.decode(bits)));
        let has_negative_zero = format.decode(sign) == 0.0;
        Self {
            next: last + (last - before),
            nan: find(f64::is_nan),
            infinity: find(f64::is_infinite),
            all,
            sign,
            has_negative_zero,
        }
    }

    /// Returns the expected bits of a value's cast; `None` if the value is NaN and the type has NaNs: then any NaN is
    /// correct.
    fn expected(&self, value: f64, rounding: NarrowRounding, overflow: Overflow) -> Option<u64> {
        let (greatest, greatest_bits) = *self.all.last().expect("numbers");
        if value.is_nan() {
            return if self.nan.is_some() { None } else { Some(greatest_bits) };
        }
        let size = value.abs();
        let at = self.all.partition_point(|&(number, _)| number <= size) - 1;
        let (below, bits) = self.all[at];
        let (above, above_bits) = self.all.get(at + 1).copied().unwrap_or((self.next, u64::MAX));
        // Differences between values with fewer than 53 digits are exact.
        let is_up = rounding == NarrowRounding::NearestEven
            && (size - below > above - size || size - below == above - size && bits & 1 == 1);
        let is_beyond = size.is_infinite() || (is_up && at + 1 == self.all.len());
        let magnitude = match (is_beyond, overflow) {
            (false, _) if is_up => above_bits,
            (false, _) => bits,
            (true, Overflow::Saturate) => greatest_bits,
            (true, Overflow::Special) => match (self.infinity, self.nan) {
                (Some(infinity), _) => infinity,
                (None, Some(_)) => return None,
                (None, None) => greatest_bits,
            },
        };
        assert!(greatest >= below);
        let is_signed = value.is_sign_negative() && (magnitude != 0 || self.has_negative_zero);
        Some(magnitude | if is_signed { self.sign } else { 0 })
    }
}

/// Compares the casts of arguments with the nearest values of each type in `names`.
fn check(from: Element, arguments: &[u64], value: impl Fn(u64) -> f64, names: &[&str]) {
    for &name in names {
        let to = format(name);
        let numbers = Numbers::of(to);
        let Type::Scalar(element) = carrier_type(ElementType::Float(to)) else { panic!("{name}") };
        for rounding in [NarrowRounding::NearestEven, NarrowRounding::TowardZero] {
            for overflow in [Overflow::Saturate, Overflow::Special] {
                let kernel = elementwise::kernel(&[from], element, |builder, values| {
                    let single = match from {
                        Element::F64 => emit_round_to_odd_f32(builder, values[0]),
                        _ => builder.cast(Cast::ExtendF, values[0], Type::Scalar(Element::F32)),
                    };
                    emit_round_to_format(builder, single, to, rounding, overflow)
                });
                let found = elementwise::results(&kernel, &[from], element, &[arguments.to_vec()]);
                for (&argument, &found) in arguments.iter().zip(&found) {
                    let context = format!("{argument:#x} to {name}, {rounding:?}, {overflow:?}: {found:#x}");
                    match numbers.expected(value(argument), rounding, overflow) {
                        Some(bits) => assert_eq!(found, bits, "{context}"),
                        None => assert!(to.decode(found).is_nan(), "{context}"),
                    }
                }
            }
        }
    }
}

/// Numbers around all values of a type and around their midpoints, as binary64.
fn around(name: &str) -> Vec<f64> {
    let numbers = Numbers::of(format(name));
    let mut values = Vec::new();
    for pair in numbers.all.windows(2) {
        values.extend([pair[0].0, (pair[0].0 + pair[1].0) / 2.0]);
    }
    let last = numbers.all[numbers.all.len() - 1].0;
    values.extend([last, (last + numbers.next) / 2.0, numbers.next, 2.0 * last, f64::INFINITY, f64::NAN]);
    values
}

#[test]
fn all_f16_values_are_rounded() {
    let all: Vec<u64> = (0..=u16::MAX.into()).collect();
    check(Element::F16, &all, |bits| f16::from_bits(bits as u16).to_f64(), &EIGHT_BITS);
    check(Element::Bf16, &all, |bits| bf16::from_bits(bits as u16).to_f64(), &EIGHT_BITS);
    check(Element::F16, &all, |bits| f16::from_bits(bits as u16).to_f64(), &["e2m1", "e2m3", "e3m2"]);
}

#[test]
fn singles_around_numbers_and_ties_are_rounded() {
    for name in NARROW {
        let mut arguments = Vec::new();
        for value in around(name) {
            let bits = (value as f32).to_bits();
            let near = [bits.wrapping_sub(1), bits, bits.wrapping_add(1)];
            arguments.extend(near.into_iter().flat_map(|bits| [bits, bits ^ 0x8000_0000]).map(u64::from));
        }
        arguments.extend((0..1u64 << 32).step_by(1_048_573).map(|bits| bits & 0xffff_ffff));
        check(Element::F32, &arguments, |bits| f64::from(f32::from_bits(bits as u32)), &[name]);
    }
}

#[test]
fn doubles_are_rounded_once() {
    for name in NARROW {
        let mut arguments = Vec::new();
        for value in around(name) {
            let bits = value.to_bits();
            let near = [bits.wrapping_sub(1), bits, bits.wrapping_add(1)];
            arguments.extend(near.into_iter().flat_map(|bits| [bits, bits ^ (1 << 63)]));
        }
        arguments.extend([f64::MAX, f64::MIN_POSITIVE, 1e-320, -1e300, 1e39].map(f64::to_bits));
        check(Element::F64, &arguments, f64::from_bits, &[name]);
    }
}

#[test]
fn bytes_become_f16_exactly() {
    let native = NativeCasts::from_target(&target(true));
    let all: Vec<u64> = (0..=u8::MAX.into()).collect();
    for (signed, position) in [false, true].into_iter().flat_map(|signed| (0..4).map(move |at| (signed, at))) {
        let kernel = elementwise::kernel(&[Element::I8], Element::F16, |builder, values| {
            let ones = builder.constant(Type::Scalar(Element::I8), 0xff);
            let other = builder.binary(Binary::Xor, values[0], ones);
            let mut bytes = [other; 4];
            bytes[position] = values[0];
            native.convert_bytes(builder, &bytes, signed).expect("the target permutes bytes")[position]
        });
        let found = elementwise::results(&kernel, &[Element::I8], Element::F16, std::slice::from_ref(&all));
        for (&byte, found) in all.iter().zip(found) {
            let expected = if signed { f64::from(byte as u8 as i8) } else { byte as f64 };
            assert_eq!(f16::from_bits(found as u16).to_f64(), expected, "byte {byte}, signed: {signed}, {position}");
        }
    }
}

#[test]
fn narrow_numbers_become_singles_exactly() {
    for name in NARROW {
        let number = ElementType::from_name(name).expect("a type");
        let Type::Scalar(element) = carrier_type(number) else { panic!("{name}") };
        let all: Vec<u64> = (0..1u64 << number.bits()).collect();
        let kernel = elementwise::kernel(&[element], Element::F32, |builder, values| {
            emit_widen_to_f32(builder, values[0], number)
        });
        for (&bits, &found) in
            all.iter().zip(&elementwise::results(&kernel, &[element], Element::F32, std::slice::from_ref(&all)))
        {
            let (expected, found) = (format(name).decode(bits), f64::from(f32::from_bits(found as u32)));
            assert!(expected.to_bits() == found.to_bits() || expected.is_nan() && found.is_nan(), "{name} {bits:#x}");
        }
    }
}

/// Checks all encodings of the narrow types in all types that represent them.
#[test]
fn narrow_numbers_keep_their_value_in_wider_types() {
    for (from, to) in NARROW.iter().flat_map(|from| ["f16", "bf16", "f32", "f64"].map(|to| (*from, to))) {
        let [source, wide] = [from, to].map(|name| ElementType::from_name(name).expect("a type"));
        if !is_cast_supported(source, wide) || source.bits() > 8 {
            continue;
        }
        let Some(result) = carrier_type(wide).element() else { panic!("{to}") };
        let kernel =
            elementwise::kernel(&[Element::I8], result, |builder, values| emit_cast(builder, values[0], source, wide));
        let encodings: Vec<u64> = (0..1 << source.bits()).collect();
        let found = elementwise::results(&kernel, &[Element::I8], result, std::slice::from_ref(&encodings));
        for (bits, found) in encodings.into_iter().zip(found) {
            let (value, found) = (format(from).decode(bits), format(to).decode(found));
            let is_same = value.is_nan() && found.is_nan() || value.to_bits() == found.to_bits();
            assert!(is_same, "{from} {bits:#x} is {value}; as {to} it is {found}");
        }
    }
}
