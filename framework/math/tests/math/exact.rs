//! Functions whose results are defined bit for bit, expanded and run on the emulator: by rational arithmetic
//! (`data/math/exact.txt`, which `exact.py` beside it makes), of `f32` by what binary64 has exactly, at the ends of their ranges
//! as IEEE 754 and ISO/IEC 9899:2024, F.10, say.

use tilewright_testkit::elementwise;
use tilewright_testkit::split_mix::SplitMix64;

use std::collections::BTreeMap;

use tilewright_kernel::{Element, MathFunction};
use tilewright_math::{bound, expand};

fn run(function: MathFunction, element: Element, arguments: &[Vec<u64>]) -> Vec<u64> {
    let from = vec![element; function.operands()];
    let mut kernel = elementwise::kernel(&from, element, |builder, values| builder.math(function, values));
    expand(&mut kernel, |_, _| false);
    elementwise::results(&kernel, &from, element, arguments)
}

fn function(name: &str) -> MathFunction {
    let found = MathFunction::ALL.iter().find(|function| function.name() == name);
    *found.unwrap_or_else(|| panic!("no function {name}"))
}

fn is_nan(element: Element, bits: u64) -> bool {
    if element == Element::F32 { f32::from_bits(bits as u32).is_nan() } else { f64::from_bits(bits).is_nan() }
}

/// Runs lines of a function, each its arguments and the result, bit for bit but for what a NaN carries.
fn check(function: MathFunction, element: Element, lines: &[Vec<u64>]) {
    let count = function.operands();
    let arguments: Vec<Vec<u64>> = (0..count).map(|at| lines.iter().map(|line| line[at]).collect()).collect();
    for (line, found) in lines.iter().zip(run(function, element, &arguments)) {
        let is_right = found == line[count] || is_nan(element, found) && is_nan(element, line[count]);
        assert!(is_right, "{} of {element:?}: {line:x?}, found {found:x}", function.name());
    }
}

#[test]
fn results_are_those_of_rational_arithmetic() {
    let mut lines: BTreeMap<(&str, &str), Vec<Vec<u64>>> = BTreeMap::new();
    for line in include_str!("../data/exact.txt").lines() {
        let mut words = line.split(' ');
        let (name, element) = (words.next().expect("a function"), words.next().expect("a type"));
        let bits = words.map(|word| u64::from_str_radix(word, 16).expect("bits")).collect();
        lines.entry((name, element)).or_default().push(bits);
    }
    // All but neighbours and the remainder toward zero, which have tests of their own.
    let exact = MathFunction::ALL.iter().filter(|function| function.is_exact()).count();
    assert_eq!(lines.len(), 2 * (exact - 2));
    for ((name, element), lines) in lines {
        let element = if element == "f32" { Element::F32 } else { Element::F64 };
        assert!(lines.len() > 20, "{name}");
        assert_eq!(bound(function(name), element), Some(0.0));
        check(function(name), element, &lines);
    }
}

/// Pairs of numbers whose exponents are at most 28 apart, so that binary64 has their sum.
fn pairs() -> [Vec<u64>; 2] {
    let words: Vec<u64> = SplitMix64::new(7).take(20_000).collect();
    let first: Vec<u64> = words.iter().map(|word| word & 0xffff_ffff).collect();
    let beside = |word: &u64| {
        let field = (word >> 23 & 0xff) as i64 + (word >> 32 & 0x3f) as i64 % 57 - 28;
        (field.clamp(0, 254) as u64) << 23 | word >> 38 & 0x807f_ffff
    };
    [first, words.iter().map(beside).collect()]
}

fn single(bits: u64) -> f32 {
    f32::from_bits(bits as u32)
}

/// Holds results against the exact value, given as how it compares with a number of binary32.
fn check_directions(name: &str, arguments: &[Vec<u64>], compare: impl Fn(&[f32], f32) -> std::cmp::Ordering) {
    use std::cmp::Ordering::{Greater, Less};
    let results = ["rd", "ru", "rz"].map(|mode| run(function(&format!("{name}_{mode}")), Element::F32, arguments));
    let mut inexact = 0;
    for index in 0..arguments[0].len() {
        let own: Vec<f32> = arguments.iter().map(|argument| single(argument[index])).collect();
        let [down, up, zero] = [0, 1, 2].map(|mode| single(results[mode][index]));
        if own.iter().any(|own| !own.is_finite()) || down.is_nan() {
            continue;
        }
        let said = format!("{name}{own:?}: {down:e} {up:e} {zero:e}");
        assert!(
            compare(&own, down) != Less && compare(&own, down.next_up()) == Less || down == f32::INFINITY,
            "{said}"
        );
        assert!(
            compare(&own, up) != Greater && compare(&own, up.next_down()) == Greater || up == f32::NEG_INFINITY,
            "{said}"
        );
        let nearer = if down < 0.0 || down == 0.0 && down.is_sign_negative() { up } else { down };
        assert_eq!(zero, nearer, "{said}");
        inexact += usize::from(down != up);
    }
    assert!(inexact > 5000, "{name}: {inexact}");
}

#[test]
fn results_in_a_direction_lie_next_to_the_exact_value() {
    let wide = |number: f32| f64::from(number);
    let of = |exact: f64, number: f32| exact.partial_cmp(&wide(number)).expect("numbers");
    let pairs = pairs();
    check_directions("add", &pairs, |own, number| of(wide(own[0]) + wide(own[1]), number));
    let any = [8, 9].map(|seed| SplitMix64::new(seed).take(20_000).map(|word| word >> 13 & 0xffff_ffff).collect());
    check_directions("mul", &any, |own, number| of(wide(own[0]) * wide(own[1]), number));
    check_directions("div", &any, |own, number| {
        let product = wide(number) * wide(own[1]);
        let exact = wide(own[0]).partial_cmp(&product).expect("numbers");
        if own[1] < 0.0 { exact.reverse() } else { exact }
    });
    let positive: Vec<u64> = any[0].iter().map(|bits| bits & 0x7fff_ffff).collect();
    check_directions("sqrt", &[positive], |own, number| {
        if number < 0.0 { std::cmp::Ordering::Greater } else { wide(own[0]).total_cmp(&(wide(number) * wide(number))) }
    });
}

#[test]
fn neighbours_are_those_of_the_host() {
    let words: Vec<u64> = SplitMix64::new(4).take(4000).collect();
    let edges = [0u64, 1 << 63, 1, 1 << 63 | 1, 0x7fef_ffff_ffff_ffff, 0x7ff0_0000_0000_0000, 0xfff0_0000_0000_0000];
    let first: Vec<u64> = words.iter().copied().chain(edges).collect();
    let lines = |up: bool| -> Vec<Vec<u64>> {
        let toward = if up { f64::INFINITY } else { f64::NEG_INFINITY };
        let next = |bits: u64| if up { f64::from_bits(bits).next_up() } else { f64::from_bits(bits).next_down() };
        first.iter().map(|&bits| vec![bits, toward.to_bits(), next(bits).to_bits()]).collect()
    };
    for up in [false, true] {
        check(MathFunction::NextAfter, Element::F64, &lines(up));
    }
    let lines = |toward: f32| -> Vec<Vec<u64>> {
        let next =
            |bits: u32| if toward > 0.0 { f32::from_bits(bits).next_up() } else { f32::from_bits(bits).next_down() };
        let line = |bits: u32| vec![bits.into(), toward.to_bits().into(), next(bits).to_bits().into()];
        words
            .iter()
            .map(|word| line((word >> 9) as u32))
            .chain([0, 0x8000_0000, 0x7f7f_ffff, 1, 0x8000_0001].map(line))
            .collect()
    };
    for toward in [f32::INFINITY, f32::NEG_INFINITY] {
        check(MathFunction::NextAfter, Element::F32, &lines(toward));
    }
}

const INF: f64 = f64::INFINITY;
const NAN: f64 = f64::NAN;

/// Arguments and results: ISO/IEC 9899:2024, F.10, and of what is rounded IEEE 754-2019, 6.3 and 7.
#[rustfmt::skip]
const SPECIAL: &[(&str, &[&[f64]])] = &[
    ("logb", &[&[0.0, -INF], &[-0.0, -INF], &[INF, INF], &[-INF, INF], &[NAN, NAN], &[1.0, 0.0], &[-8.0, 3.0], &[0.75, -1.0]]),
    ("nextafter", &[&[0.0, -0.0, -0.0], &[-0.0, 0.0, 0.0], &[1.0, NAN, NAN], &[NAN, 1.0, NAN], &[INF, INF, INF], &[2.0, 2.0, 2.0]]),
    ("scalbn", &[
        &[0.0, 1e9, 0.0], &[-0.0, -5.0, -0.0], &[INF, -1e9, INF], &[-INF, 3.0, -INF], &[NAN, 1.0, NAN], &[1.0, 1e9, INF], &[-1.0, 1e9, -INF],
        &[1.0, -1e9, 0.0], &[-3.0, -2e9, -0.0], &[1.5, 0.0, 1.5], &[-3.0, 2.0, -12.0], &[3.0, -1.0, 1.5],
    ]),
    ("remainder", &[
        &[5.0, 3.0, -1.0], &[4.0, 3.0, 1.0], &[-5.0, 3.0, 1.0], &[3.0, 2.0, -1.0], &[1.0, 2.0, 1.0], &[5.0, 2.0, 1.0], &[7.0, -2.0, -1.0],
        &[6.0, 3.0, 0.0], &[-6.0, 3.0, -0.0], &[0.0, 1.0, 0.0], &[-0.0, 1.0, -0.0], &[1.0, 0.0, NAN], &[INF, 1.0, NAN], &[2.0, INF, 2.0],
        &[-2.0, -INF, -2.0], &[NAN, 1.0, NAN], &[1.0, NAN, NAN],
    ]),
    ("add_rd", &[&[1.0, -1.0, -0.0], &[0.0, -0.0, -0.0], &[0.0, 0.0, 0.0], &[-0.0, -0.0, -0.0], &[INF, -1.0, INF], &[INF, -INF, NAN], &[NAN, 0.0, NAN]]),
    ("add_ru", &[&[1.0, -1.0, 0.0], &[0.0, -0.0, 0.0], &[-0.0, -0.0, -0.0], &[-INF, 1.0, -INF], &[INF, -INF, NAN], &[1.0, NAN, NAN]]),
    ("add_rz", &[&[1.0, -1.0, 0.0], &[-0.0, 0.0, 0.0], &[-0.0, -0.0, -0.0], &[INF, INF, INF], &[INF, -INF, NAN]]),
    ("mul_rd", &[&[0.0, -1.0, -0.0], &[0.0, 2.0, 0.0], &[INF, -2.0, -INF], &[INF, 0.0, NAN], &[NAN, 1.0, NAN], &[1.5, 2.0, 3.0]]),
    ("mul_ru", &[&[-0.0, 1.0, -0.0], &[-INF, -2.0, INF], &[0.0, INF, NAN]]),
    ("mul_rz", &[&[-0.0, -1.0, 0.0], &[INF, -2.0, -INF], &[-0.0, INF, NAN]]),
    ("div_rd", &[&[1.0, 0.0, INF], &[-1.0, 0.0, -INF], &[0.0, 0.0, NAN], &[1.0, INF, 0.0], &[1.0, -INF, -0.0], &[INF, INF, NAN], &[INF, -2.0, -INF], &[0.0, -3.0, -0.0]]),
    ("div_ru", &[&[1.0, -0.0, -INF], &[1.0, INF, 0.0], &[INF, 2.0, INF], &[NAN, 1.0, NAN], &[6.0, 3.0, 2.0]]),
    ("div_rz", &[&[-1.0, 0.0, -INF], &[-1.0, INF, -0.0], &[INF, -2.0, -INF], &[0.0, 5.0, 0.0]]),
    ("sqrt_rd", &[&[0.0, 0.0], &[-0.0, -0.0], &[-1.0, NAN], &[INF, INF], &[NAN, NAN], &[4.0, 2.0]]),
    ("sqrt_ru", &[&[-0.0, -0.0], &[-INF, NAN], &[INF, INF], &[9.0, 3.0]]),
    ("sqrt_rz", &[&[0.0, 0.0], &[-2.0, NAN], &[INF, INF], &[2.25, 1.5]]),
    ("fma_rd", &[&[1.0, 2.0, -2.0, -0.0], &[0.0, 5.0, 0.0, 0.0], &[0.0, 5.0, -0.0, -0.0], &[0.0, 5.0, 3.0, 3.0], &[INF, 1.0, -INF, NAN], &[INF, 0.0, 1.0, NAN], &[2.0, 3.0, INF, INF], &[2.0, 3.0, NAN, NAN]]),
    ("fma_ru", &[&[1.0, 2.0, -2.0, 0.0], &[-0.0, 5.0, -0.0, -0.0], &[2.0, 3.0, -INF, -INF], &[INF, -1.0, 4.0, -INF]]),
    ("fma_rz", &[&[3.0, 2.0, -6.0, 0.0], &[0.0, -5.0, 0.0, 0.0], &[2.0, 3.0, 1.0, 7.0], &[INF, 1.0, 0.0, INF]]),
];

#[test]
fn special_values_are_those_of_the_standards() {
    for &(name, rows) in SPECIAL {
        for element in [Element::F32, Element::F64] {
            let bits =
                |value: f64| if element == Element::F32 { (value as f32).to_bits().into() } else { value.to_bits() };
            let lines: Vec<Vec<u64>> = rows.iter().map(|row| row.iter().map(|value| bits(*value)).collect()).collect();
            check(function(name), element, &lines);
        }
    }
    assert_eq!(SPECIAL.len() + 1, MathFunction::ALL.iter().filter(|function| function.is_exact()).count());
}

/// What overflows is infinite, or the greatest number, as the direction says.
#[test]
fn overflow_follows_the_direction() {
    let most = f64::MAX;
    for (name, arguments, down, up, zero) in [
        ("add", vec![most, most], most, INF, most),
        ("add", vec![-most, -most], -INF, -most, -most),
        ("mul", vec![most, 2.0], most, INF, most),
        ("mul", vec![most, -2.0], -INF, -most, -most),
        ("div", vec![most, 0.5], most, INF, most),
        ("div", vec![most, -0.5], -INF, -most, -most),
        ("fma", vec![most, 2.0, 1.0], most, INF, most),
        ("fma", vec![most, -2.0, 1.0], -INF, -most, -most),
    ] {
        for (mode, expected) in [("rd", down), ("ru", up), ("rz", zero)] {
            let line = arguments.iter().copied().chain([expected]).map(f64::to_bits).collect();
            check(function(&format!("{name}_{mode}")), Element::F64, &[line]);
        }
    }
}
