//! Floating-point formats against other crates' decoders, and rounding against exact comparison.

use half::{bf16, f16};
use microfloat::{f4e2m1fn, f6e2m3fn, f6e3m2fn, f8e4m3fn, f8e4m3fnuz, f8e5m2, f8e5m2fnuz, f8e8m0fnu};
use tilewright_target::{ElementType, FloatFormat, RoundingMode};

/// A format, and its reference decoder from another crate.
type Reference = (&'static str, FloatFormat, fn(u64) -> f64);

/// All formats of at most sixteen bits.
const REFERENCES: [Reference; 11] = [
    ("f16", FloatFormat::F16, |code| f16::from_bits(code as u16).to_f64()),
    ("bf16", FloatFormat::BF16, |code| bf16::from_bits(code as u16).to_f64()),
    ("e5m2", FloatFormat::E5M2, |code| f8e5m2::from_bits(code as u8).to_f64()),
    ("e4m3", FloatFormat::E4M3, |code| f8e4m3fn::from_bits(code as u8).to_f64()),
    ("bf8_fnuz", FloatFormat::E5M2_FNUZ, |code| f8e5m2fnuz::from_bits(code as u8).to_f64()),
    ("fp8_fnuz", FloatFormat::E4M3_FNUZ, |code| f8e4m3fnuz::from_bits(code as u8).to_f64()),
    ("e8m0", FloatFormat::E8M0, |code| f8e8m0fnu::from_bits(code as u8).to_f64()),
    // The scale type is E4M3 without its sign.
    ("ue4m3", FloatFormat::UE4M3, |code| f8e4m3fn::from_bits(code as u8 & 0x7f).to_f64()),
    ("e2m3", FloatFormat::E2M3, |code| f6e2m3fn::from_bits(code as u8).to_f64()),
    ("e3m2", FloatFormat::E3M2, |code| f6e3m2fn::from_bits(code as u8).to_f64()),
    ("e2m1", FloatFormat::E2M1, |code| f4e2m1fn::from_bits(code as u8).to_f64()),
];

const MODES: [RoundingMode; 5] =
    [RoundingMode::NearestEven, RoundingMode::Zero, RoundingMode::Down, RoundingMode::Up, RoundingMode::Odd];

fn same(a: f64, b: f64) -> bool {
    a.to_bits() == b.to_bits() || a.is_nan() && b.is_nan()
}

#[test]
fn every_code_has_the_value_that_other_crates_give_it() {
    for (name, format, reference) in REFERENCES {
        assert_eq!(ElementType::from_name(name), Some(ElementType::Float(format)), "{name}");
        for code in 0..1u64 << format.bits() {
            let (found, expected) = (format.decode(code), reference(code));
            assert!(same(found, expected), "{name} {code:#x}: {found:e}, expected {expected:e}");
        }
    }
}

#[test]
fn the_least_normal_number_has_the_first_code_of_normal_numbers() {
    for (name, format, reference) in REFERENCES {
        // Exponent 0 has subnormal numbers, unless there is no mantissa.
        let [_, mantissa, _] = format.field_widths();
        let code = if mantissa == 0 { 0 } else { 1 << mantissa };
        assert_eq!(format.min_normal(), reference(code), "{name}");
    }
}

#[test]
fn wide_formats_are_those_of_the_host() {
    for bits in (0..u32::MAX).step_by(65_537) {
        let value = f64::from(f32::from_bits(bits));
        assert!(same(FloatFormat::F32.decode(bits.into()), value), "{bits:#x}");
        let tf32 = f64::from(f32::from_bits(bits & !0x1fff));
        assert!(value.is_nan() || same(FloatFormat::TF32.decode(bits.into()), tf32), "{bits:#x}");
        // Numbers from `value` to its neighbour of greater magnitude: for a normal number half an ulp to one ulp away,
        // half as far, and `value`.
        for between in [value * (1.0 + 2f64.powi(-24)), value * (1.0 + 2f64.powi(-25)), value] {
            let expected = if between.is_nan() { 0x7fc0_0000 } else { (between as f32).to_bits() };
            assert_eq!(
                FloatFormat::F32.round(between, RoundingMode::NearestEven),
                Some(expected.into()),
                "{between:e}"
            );
        }
        let wide = u64::from(bits) << 32 | u64::from(!bits);
        let double = f64::from_bits(wide);
        assert!(same(FloatFormat::F64.decode(wide), double), "{wide:#x}");
        for mode in MODES {
            let expected = if double.is_nan() { 0x7ff8_0000_0000_0000 } else { wide };
            assert_eq!(FloatFormat::F64.round(double, mode), Some(expected), "{wide:#x}");
        }
    }
}

/// The finite numbers of a format in ascending order, from zero or the least one, so that their indices are codes.
fn magnitudes(format: FloatFormat, reference: fn(u64) -> f64) -> Vec<f64> {
    let [exponent, mantissa, _] = format.field_widths();
    (0..1u64 << (exponent + mantissa)).map(reference).take_while(|value| value.is_finite()).collect()
}

/// The number above the greatest if the format continued: as far above as the number below, or twice the greatest if
/// all are powers of two.
fn number_beyond(numbers: &[f64]) -> f64 {
    let [.., below, greatest] = *numbers else { panic!("a format of one number") };
    if numbers.iter().all(|number| number.to_bits() << 12 == 0) { 2.0 * greatest } else { 2.0 * greatest - below }
}

/// The code that a magnitude rounds to, found by comparison with the numbers of the format; the number of codes for a
/// magnitude beyond all of them.
fn rounded_code(numbers: &[f64], magnitude: f64, negative: bool, mode: RoundingMode) -> usize {
    let above = numbers.partition_point(|&number| number < magnitude);
    if numbers.get(above) == Some(&magnitude) || above == 0 {
        return above;
    }
    let below = above - 1;
    let next = numbers.get(above).copied().unwrap_or_else(|| number_beyond(numbers));
    let is_up = match mode {
        // Both differences are exact: the numbers differ by at most a factor of two, or one of them is zero.
        RoundingMode::NearestEven => {
            let (down, up) = (magnitude - numbers[below], next - magnitude);
            up < down || up == down && below % 2 == 1
        }
        RoundingMode::Zero => false,
        RoundingMode::Down => negative,
        RoundingMode::Up => !negative,
        RoundingMode::Odd => below % 2 == 0,
    };
    if is_up { above } else { below }
}

/// The encoding of a rounded number, by the definition of rounding.
fn rounded(format: FloatFormat, numbers: &[f64], value: f64, mode: RoundingMode) -> Option<u64> {
    let negative = value.is_sign_negative();
    if value < 0.0 && !format.is_signed() {
        return None;
    }
    let mut code = rounded_code(numbers, value.abs(), negative, mode);
    if code == numbers.len() {
        match mode {
            RoundingMode::NearestEven => {}
            RoundingMode::Down if negative => {}
            RoundingMode::Up if !negative => {}
            _ => code -= 1,
        }
    }
    if code == numbers.len() && !format.has_infinity() {
        return None;
    }
    let [exponent, mantissa, _] = format.field_widths();
    let sign = u64::from(negative && format.is_signed()) << (exponent + mantissa);
    let bits = sign | code as u64;
    // One of the two zeros may be NaN.
    Some(if format.decode(bits).is_nan() { 0 } else { bits })
}

#[test]
fn rounding_agrees_with_comparison() {
    for (name, format, reference) in REFERENCES {
        let numbers = magnitudes(format, reference);
        let step = if format.bits() > 8 { 7 } else { 1 };
        let beyond = number_beyond(&numbers);
        let pairs = numbers.windows(2).map(|pair| [pair[0], pair[1]]);
        let pairs = pairs.step_by(step).chain([[numbers[numbers.len() - 1], beyond], [beyond, 4.0 * beyond]]);
        for [low, high] in pairs {
            let middle = low + (high - low) / 2.0;
            let quarter = low + (high - low) / 4.0;
            let near = [low, middle, high].into_iter().flat_map(|at| [at.next_down(), at, at.next_up()]);
            for magnitude in near.chain([quarter, middle + (high - low) / 4.0]).filter(|at| *at >= 0.0) {
                for value in [magnitude, -magnitude] {
                    for mode in MODES {
                        let (found, expected) = (format.round(value, mode), rounded(format, &numbers, value, mode));
                        assert_eq!(found, expected, "{name} {value:e} {mode:?}");
                    }
                }
            }
        }
    }
}

#[test]
fn numbers_far_from_a_format_round_too() {
    for (name, format, reference) in REFERENCES {
        let numbers = magnitudes(format, reference);
        for value in [f64::MAX, f64::MIN_POSITIVE, f64::from_bits(1), 2f64.powi(200), 2f64.powi(-200)] {
            for value in [value, -value] {
                for mode in MODES {
                    assert_eq!(
                        format.round(value, mode),
                        rounded(format, &numbers, value, mode),
                        "{name} {value:e} {mode:?}"
                    );
                }
            }
        }
        for mode in MODES {
            assert_eq!(
                format.round(f64::NAN, mode).map(|bits| format.decode(bits).is_nan()),
                format.encode_nan().map(|_| true)
            );
            let infinite = format.round(f64::INFINITY, mode).map(|bits| format.decode(bits));
            assert_eq!(infinite, format.has_infinity().then_some(f64::INFINITY), "{name} {mode:?}");
        }
    }
}

/// Rounding to odd first is harmless: the second rounding gives the correctly rounded result.
#[test]
fn a_number_rounded_to_odd_rounds_once_more_as_if_at_once() {
    for (name, format, reference) in REFERENCES.into_iter().filter(|(_, format, _)| format.field_widths()[1] <= 7) {
        for pair in magnitudes(format, reference).windows(2) {
            let middle = pair[0] + (pair[1] - pair[0]) / 2.0;
            for value in [middle, middle.next_up(), middle.next_down(), pair[1].next_up()] {
                let odd = FloatFormat::F32.round(value, RoundingMode::Odd).map(|bits| FloatFormat::F32.decode(bits));
                let twice = odd.and_then(|odd| format.round(odd, RoundingMode::NearestEven));
                assert_eq!(twice, format.round(value, RoundingMode::NearestEven), "{name} {value:e}");
            }
        }
    }
}

fn decoded(name: &str, bits: u64) -> f64 {
    match ElementType::from_name(name) {
        Some(ElementType::Float(format)) => format.decode(bits),
        other => panic!("{name}: {other:?}"),
    }
}

#[test]
fn formats_of_microscaling_have_their_published_values() {
    // OCP Microscaling Formats 1.0, tables 1 and 2, section 5.4: bias, greatest and least values; no infinity, no NaN
    // except in e8m0.
    for (name, bits, value) in [
        ("e2m3", 0x1f, 7.5),
        ("e2m3", 0x08, 1.0),
        ("e2m3", 0x07, 0.875),
        ("e2m3", 0x01, 0.125),
        ("e2m3", 0x3f, -7.5),
        ("e3m2", 0x1f, 28.0),
        ("e3m2", 0x04, 0.25),
        ("e3m2", 0x03, 0.1875),
        ("e3m2", 0x01, 0.0625),
        ("e3m2", 0x21, -0.0625),
        ("e8m0", 0x7f, 1.0),
        ("e8m0", 0x00, 2f64.powi(-127)),
        ("e8m0", 0x01, 2f64.powi(-126)),
        ("e8m0", 0xfe, 2f64.powi(127)),
        ("ue4m3", 0x7e, 448.0),
        ("ue4m3", 0x01, 0.001_953_125),
        ("ue4m3", 0xb8, 1.0),
    ] {
        assert_eq!(decoded(name, bits), value, "{name} {bits:#x}");
    }
    assert!(decoded("e8m0", 0xff).is_nan() && decoded("ue4m3", 0x7f).is_nan());
    for (name, bits, stored) in [
        ("e2m1", 4, 4),
        ("e2m3", 6, 8),
        ("e3m2", 6, 8),
        ("e8m0", 8, 8),
        ("ue4m3", 8, 8),
        ("tf32", 32, 32),
        ("u1", 1, 1),
    ] {
        let number = ElementType::from_name(name).expect("a type");
        assert_eq!((number.bits(), number.stored_bits()), (bits, stored), "{name}");
        assert_eq!(ElementType::from_name(&number.to_string()), Some(number));
    }
    for name in ["e8m0", "ue4m3", "e4m3", "f16", "tf32", "e2m1"] {
        let Some(ElementType::Float(format)) = ElementType::from_name(name) else { panic!("{name}") };
        assert_eq!(format.decode(format.encode_one()), 1.0, "{name}");
    }
}

/// Every floating-point type of at most eight bits, and three wider ones.
const NARROW: [&str; 12] =
    ["e2m1", "e2m3", "e3m2", "e4m3", "e5m2", "fp8_fnuz", "bf8_fnuz", "e8m0", "ue4m3", "f16", "bf16", "f32"];

#[test]
fn a_type_is_exact_in_another_where_that_has_all_its_values() {
    let values = |name: &str| -> Vec<u64> {
        let bits = ElementType::from_name(name).expect("a type").bits().min(16);
        (0..1u64 << bits).map(|element| decoded(name, element).to_bits()).collect()
    };
    let is_nan = |bits: u64| f64::from_bits(bits).is_nan();
    for to in NARROW.into_iter().filter(|&to| to != "f32") {
        let known: std::collections::BTreeSet<u64> = values(to).into_iter().collect();
        let has_nan = known.iter().any(|&bits| is_nan(bits));
        for from in NARROW.into_iter().filter(|&from| from != "f32") {
            let all = values(from).into_iter().all(|bits| if is_nan(bits) { has_nan } else { known.contains(&bits) });
            let is_exact = ElementType::from_name(from)
                .zip(ElementType::from_name(to))
                .is_some_and(|(from, to)| from.is_representable_in(to));
            // `is_exact_in` may be false although `to` has all values of `from`: if `to` has a NaN in place of a number
            // at its greatest exponent, and `from` has the same greatest exponent.
            assert!(!is_exact || all, "{from} in {to}");
            let top = to == "e4m3" && from == "ue4m3" || to == "ue4m3" && from == "e8m0";
            assert!(is_exact || !all || top, "{from} in {to} is not said");
        }
        assert!(
            ElementType::from_name(to)
                .zip(ElementType::from_name("f32"))
                .is_some_and(|(to, wide)| to.is_representable_in(wide)),
            "{to}"
        );
    }
}

#[test]
fn the_low_bits_of_tf32_are_not_read() {
    assert_eq!(decoded("tf32", u64::from(1.5f32.to_bits() | 0x1fff)), 1.5);
    assert_eq!(decoded("tf32", u64::from((-3.0f32).to_bits())), -3.0);
}
