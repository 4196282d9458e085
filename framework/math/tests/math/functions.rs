//! Expansions of functions of numbers, run on the emulator, against the host and against results of many digits.
//!
//! - `f32`: arguments of all binades and signs, those next to where formulas change, random ones. The executable
//!   `external` runs functions of one argument on all 2^32.
//! - `f64`: `data/math/doubles.txt`, which `doubles.py` beside it makes with mpmath; `f32` of functions that the host has not:
//!   `singles.txt`, made by the same.
//! - What is defined bit for bit is in `math_exact.rs`.
//! - Special values as ISO/IEC 9899:2024, F.10, says.
//!
//! `TILEWRIGHT_BLESS=1` writes `docs/math.md`'s table.

use crate::truth;
use tilewright_testkit::elementwise;
use tilewright_testkit::emulator_target;
use tilewright_testkit::split_mix::SplitMix64;
use tilewright_testkit::{golden, shared_data};

use std::collections::BTreeMap;

use tilewright_emulator::{Argument, GlobalMemory, RunLimits};
use tilewright_kernel::{
    Binary, Builder, Compare, Element, Kernel, Launch, MathFunction, MemorySpace, Module, Op, Type, verify,
};
use tilewright_math::{bound, expand};
use truth::{Truth, error, host, least_unit};

/// A kernel of one function, expanded.
fn expanded(function: MathFunction, element: Element) -> Kernel {
    let from = vec![element; function.operands()];
    let mut kernel = elementwise::kernel(&from, element, |builder, values| builder.math(function, values));
    expand(&mut kernel, |_, _| false);
    let is_math = |op: &Op| matches!(op, Op::Math { .. });
    assert!(!kernel.statements().iter().any(|statement| is_math(&statement.op)), "{function:?}");
    kernel
}

fn run(function: MathFunction, element: Element, arguments: &[Vec<u64>]) -> Vec<u64> {
    let from = vec![element; function.operands()];
    elementwise::results(&expanded(function, element), &from, element, arguments)
}

/// The greatest error, and the bits of the arguments where it is.
#[derive(Debug, Clone, Default)]
pub struct Worst {
    pub error: f64,
    pub at: Vec<u64>,
}

impl Worst {
    fn see(&mut self, error: f64, at: impl FnOnce() -> Vec<u64>) {
        if error > self.error {
            *self = Self { error, at: at() };
        }
    }
}

fn value(bits: u64) -> f64 {
    f64::from(f32::from_bits(bits as u32))
}

/// Holds results of `f32` against the host's.
pub fn against_host(function: MathFunction, arguments: &[Vec<u64>], worst: &mut Worst) {
    let found = run(function, Element::F32, arguments);
    for (index, found) in found.into_iter().enumerate() {
        let [x, y] = [0, arguments.len() - 1].map(|operand| value(arguments[operand][index]));
        let truth = Truth { high: host(function, x, y), low: 0.0 };
        let unit = least_unit(function, Element::F32, x);
        worst.see(error(found, truth, Element::F32, unit), || arguments.iter().map(|own| own[index]).collect());
    }
}

/// Where formulas change, where results end, zeros of the logarithm of the gamma function.
const EDGES: [f32; 56] = {
    use std::f32::consts::{FRAC_1_SQRT_2, FRAC_PI_2, FRAC_PI_4, LN_2, PI, SQRT_2, TAU};
    [
        0.0,
        1e-45,
        f32::MIN_POSITIVE,
        0.25,
        FRAC_1_SQRT_2 / 2.0,
        LN_2 / 2.0,
        0.5,
        0.7,
        FRAC_1_SQRT_2,
        FRAC_PI_4,
        1.0,
        1.4,
        SQRT_2,
        1.461_632_1,
        1.5,
        FRAC_PI_2,
        2.0,
        2.457_024_7,
        2.5,
        2.747_682_6,
        3.0,
        PI,
        4.0,
        1.5 * PI,
        5.0,
        6.0,
        TAU,
        7.0,
        9.0,
        10.0,
        10.5,
        27.5,
        33.0,
        35.04,
        38.53,
        42.0,
        44.85,
        45.16,
        87.33,
        88.72,
        89.4,
        89.5,
        103.97,
        128.0,
        149.0,
        150.0,
        65_536.0,
        8_388_608.0,
        16_777_216.0,
        1.844_674_4e19,
        1e30,
        4.085_003_4e36,
        3.389_531_4e38,
        f32::MAX,
        f32::INFINITY,
        f32::NAN,
    ]
};

fn singles() -> Vec<u64> {
    let mut all: Vec<u64> = (0..1u64 << 32).step_by(116_741).collect();
    for edge in EDGES {
        let bits = u64::from(edge.to_bits());
        let near = bits.saturating_sub(8)..(bits + 9).min(0x7fc0_0000);
        all.extend(near.flat_map(|bits| [bits, bits | 0x8000_0000]));
    }
    // Between 2^-6 and 2^10 most formulas do all their work.
    all.extend(SplitMix64::new(1).take(30_000).map(|word| (0x3c80_0000 + word % 0x0800_0000) | (word >> 63 << 31)));
    all
}

/// Pairs: all edges with each other, random ones, some of them alike.
fn single_pairs(function: MathFunction) -> [Vec<u64>; 2] {
    let (mut first, mut second) = (Vec::new(), Vec::new());
    let edges: Vec<u64> = EDGES.iter().flat_map(|edge| [edge.to_bits(), (-edge).to_bits()]).map(u64::from).collect();
    for &x in &edges {
        first.extend(edges.iter().map(|_| x));
        second.extend(&edges);
    }
    let words: Vec<u64> = SplitMix64::new(2).take(60_000).collect();
    for pair in words.chunks(2) {
        let (x, other) = (pair[0] >> 32, pair[1] >> 32);
        first.push(x);
        second.push(match (function, pair[0] % 3) {
            (_, 0) => other,
            // Exponents with which powers are neither zero nor infinite.
            (MathFunction::Pow, _) => {
                let range = other as f64 / 2f64.powi(32) * 280.0 - 150.0;
                u64::from(((range / value(x).abs().log2()) as f32).to_bits())
            }
            _ => (x + other % 0x0400_0000) & 0xffff_ffff,
        });
    }
    [first, second]
}

/// Functions whose results are not defined bit for bit, and one that the host has.
fn is_measured(function: MathFunction) -> bool {
    function == MathFunction::Fmod || !function.is_exact()
}

/// Functions that `singles.txt` has.
pub fn is_listed(function: MathFunction) -> bool {
    (MathFunction::Erfinv..=MathFunction::BesselI1).contains(&function)
}

/// Holds results of `f32` against those of the table.
fn listed_single_errors() -> BTreeMap<MathFunction, Worst> {
    let mut errors = BTreeMap::new();
    for (function, rows) in rows_of(include_str!("../data/singles.txt")) {
        let count = function.operands();
        let arguments: Vec<Vec<u64>> = (0..count).map(|at| rows.iter().map(|row| row[at]).collect()).collect();
        let mut worst = Worst::default();
        for (row, found) in rows.iter().zip(run(function, Element::F32, &arguments)) {
            let truth = Truth { high: f64::from_bits(row[count]), low: 0.0 };
            let unit = least_unit(function, Element::F32, value(row[count - 1]));
            worst.see(error(found, truth, Element::F32, unit), || row[..count].to_vec());
        }
        errors.insert(function, worst);
    }
    errors
}

fn single_errors() -> BTreeMap<MathFunction, Worst> {
    let singles = singles();
    let worst_of = |&function: &MathFunction| {
        let mut worst = Worst::default();
        match function.operands() {
            1 => against_host(function, std::slice::from_ref(&singles), &mut worst),
            _ => against_host(function, &single_pairs(function), &mut worst),
        }
        (function, worst)
    };
    let by_host = MathFunction::ALL.iter().filter(|function| is_measured(**function) && !is_listed(**function));
    let mut errors: BTreeMap<_, _> = by_host.map(worst_of).collect();
    errors.extend(listed_single_errors());
    errors
}

/// The lines of a table: a function, the bits of its arguments, those of the result, of `f64` in two parts.
fn rows_of(table: &str) -> BTreeMap<MathFunction, Vec<Vec<u64>>> {
    let mut rows: BTreeMap<_, Vec<_>> = BTreeMap::new();
    for line in table.lines() {
        let (name, bits) = line.split_once(' ').expect("a function and bits");
        let function = MathFunction::ALL.iter().find(|function| function.name() == name).expect("a function");
        let bits = bits.split(' ').map(|bits| u64::from_str_radix(bits, 16).expect("bits")).collect();
        rows.entry(*function).or_default().push(bits);
    }
    rows
}

fn double_errors() -> BTreeMap<MathFunction, Worst> {
    let mut errors = BTreeMap::new();
    for (function, rows) in rows_of(include_str!("../data/doubles.txt")) {
        let count = function.operands();
        let arguments: Vec<Vec<u64>> = (0..count).map(|at| rows.iter().map(|row| row[at]).collect()).collect();
        let mut worst = Worst::default();
        for (row, found) in rows.iter().zip(run(function, Element::F64, &arguments)) {
            let truth = Truth { high: f64::from_bits(row[count]), low: f64::from_bits(row[count + 1]) };
            let unit = least_unit(function, Element::F64, f64::from_bits(row[count - 1]));
            worst.see(error(found, truth, Element::F64, unit), || row[..count].to_vec());
        }
        errors.insert(function, worst);
    }
    errors
}

pub fn within_bound(errors: &BTreeMap<MathFunction, Worst>, element: Element) {
    let mut over = Vec::new();
    for (&function, worst) in errors {
        let bound = bound(function, element).expect("a bound");
        if worst.error > bound {
            over.push(format!("{function:?}: {} at {:x?}, at most {bound}", worst.error, worst.at));
        }
    }
    assert!(over.is_empty(), "{over:#?}");
}

/// Operations of an expansion, regions entered.
fn operations(function: MathFunction, element: Element) -> usize {
    let from = vec![element; function.operands()];
    let without = elementwise::kernel(&from, element, |builder, values| builder.math(function, values));
    let is_counted = |op: &Op| !matches!(op, Op::Constant { .. } | Op::Yield { .. });
    let count = |kernel: &Kernel| kernel.statements().iter().filter(|statement| is_counted(&statement.op)).count();
    count(&expanded(function, element)) + 1 - count(&without)
}

fn table(single: &BTreeMap<MathFunction, Worst>, double: &BTreeMap<MathFunction, Worst>) -> String {
    let mut lines = vec![
        "| function | bound | met, `f32` | met, `f64` | operations, `f32` | operations, `f64` |".to_owned(),
        "|---|---:|---:|---:|---:|---:|".to_owned(),
    ];
    for &function in MathFunction::ALL.iter().filter(|function| is_measured(**function)) {
        let met = |errors: &BTreeMap<MathFunction, Worst>| match errors.get(&function) {
            Some(worst) => format!("{:.2}", worst.error),
            None => "-".to_owned(),
        };
        let bound = bound(function, Element::F32).expect("a bound");
        let [on_single, on_double] = [Element::F32, Element::F64].map(|element| operations(function, element));
        let (name, single, double) = (function.name(), met(single), met(double));
        lines.push(format!("| `{name}` | {bound} | {single} | {double} | {on_single} | {on_double} |"));
    }
    lines.join("\n")
}

#[test]
fn errors_are_within_their_bounds_and_in_the_guide() {
    let (single, double) = (single_errors(), double_errors());
    within_bound(&single, Element::F32);
    within_bound(&double, Element::F64);
    let measured = MathFunction::ALL.iter().filter(|function| !function.is_exact()).count();
    assert_eq!(double.len(), measured, "every function but the exact ones has lines");
    let page = shared_data::workspace().join("docs/math.md");
    golden::check_section(&page, "errors", &table(&single, &double));
}

#[test]
fn remainders_are_exact() {
    let pairs = single_pairs(MathFunction::Fmod);
    for (index, found) in run(MathFunction::Fmod, Element::F32, &pairs).into_iter().enumerate() {
        let [x, y] = [0, 1].map(|at| f32::from_bits(pairs[at][index] as u32));
        let (expected, found) = (x % y, f32::from_bits(found as u32));
        assert!(
            expected.to_bits() == found.to_bits() || expected.is_nan() && found.is_nan(),
            "{x:e} % {y:e}: {found:e}"
        );
    }
    let words: Vec<u64> = SplitMix64::new(3).take(20_000).collect();
    let near =
        |pair: &[u64]| if pair[0].is_multiple_of(2) { pair[1] } else { pair[0].wrapping_sub(pair[1] % (60 << 52)) };
    let pairs = [words.chunks(2).map(|pair| pair[0]).collect(), words.chunks(2).map(near).collect::<Vec<u64>>()];
    for (index, found) in run(MathFunction::Fmod, Element::F64, &pairs).into_iter().enumerate() {
        let [x, y] = [0, 1].map(|at| f64::from_bits(pairs[at][index]));
        let (expected, found) = (x % y, f64::from_bits(found));
        assert!(
            expected.to_bits() == found.to_bits() || expected.is_nan() && found.is_nan(),
            "{x:e} % {y:e}: {found:e}"
        );
    }
}

const INF: f64 = f64::INFINITY;
const NAN: f64 = f64::NAN;

/// Arguments and results of ISO/IEC 9899:2024, F.10 (of `exp10`, `rsqrt` 7.12 and IEEE 754, 9.2).
const SPECIAL: &[(MathFunction, &[(f64, f64)])] = {
    use MathFunction::*;
    &[
        (Exp, &[(0.0, 1.0), (-0.0, 1.0), (-INF, 0.0), (INF, INF), (NAN, NAN), (1e4, INF), (-1e4, 0.0)]),
        (Exp2, &[(0.0, 1.0), (-INF, 0.0), (INF, INF), (NAN, NAN), (10.0, 1024.0), (-3.0, 0.125), (1e4, INF)]),
        (Exp10, &[(0.0, 1.0), (-0.0, 1.0), (-INF, 0.0), (INF, INF), (NAN, NAN), (-1e4, 0.0)]),
        (Expm1, &[(0.0, 0.0), (-0.0, -0.0), (-INF, -1.0), (INF, INF), (NAN, NAN), (-1e4, -1.0), (1e4, INF)]),
        (Log, &[(0.0, -INF), (-0.0, -INF), (1.0, 0.0), (-1.0, NAN), (-INF, NAN), (INF, INF), (NAN, NAN)]),
        (Log2, &[(0.0, -INF), (-0.0, -INF), (1.0, 0.0), (0.125, -3.0), (-1.0, NAN), (INF, INF), (NAN, NAN)]),
        (Log10, &[(0.0, -INF), (-0.0, -INF), (1.0, 0.0), (-1.0, NAN), (INF, INF), (NAN, NAN)]),
        (Log1p, &[(0.0, 0.0), (-0.0, -0.0), (-1.0, -INF), (-2.0, NAN), (INF, INF), (-INF, NAN), (NAN, NAN)]),
        (Sin, &[(0.0, 0.0), (-0.0, -0.0), (INF, NAN), (-INF, NAN), (NAN, NAN)]),
        (Cos, &[(0.0, 1.0), (-0.0, 1.0), (INF, NAN), (-INF, NAN), (NAN, NAN)]),
        (Tan, &[(0.0, 0.0), (-0.0, -0.0), (INF, NAN), (-INF, NAN), (NAN, NAN)]),
        (Asin, &[(0.0, 0.0), (-0.0, -0.0), (1.5, NAN), (-INF, NAN), (NAN, NAN)]),
        (Acos, &[(1.0, 0.0), (1.5, NAN), (-2.0, NAN), (INF, NAN), (NAN, NAN)]),
        (Atan, &[(0.0, 0.0), (-0.0, -0.0), (NAN, NAN)]),
        (Sinh, &[(0.0, 0.0), (-0.0, -0.0), (INF, INF), (-INF, -INF), (NAN, NAN), (-1e4, -INF)]),
        (Cosh, &[(0.0, 1.0), (-0.0, 1.0), (INF, INF), (-INF, INF), (NAN, NAN), (-1e4, INF)]),
        (Tanh, &[(0.0, 0.0), (-0.0, -0.0), (INF, 1.0), (-INF, -1.0), (NAN, NAN)]),
        (Asinh, &[(0.0, 0.0), (-0.0, -0.0), (INF, INF), (-INF, -INF), (NAN, NAN)]),
        (Acosh, &[(1.0, 0.0), (0.5, NAN), (-INF, NAN), (INF, INF), (NAN, NAN)]),
        (Atanh, &[(0.0, 0.0), (-0.0, -0.0), (1.0, INF), (-1.0, -INF), (1.5, NAN), (-INF, NAN), (NAN, NAN)]),
        (Erf, &[(0.0, 0.0), (-0.0, -0.0), (INF, 1.0), (-INF, -1.0), (NAN, NAN)]),
        (Erfc, &[(0.0, 1.0), (INF, 0.0), (-INF, 2.0), (NAN, NAN)]),
        (Cbrt, &[(0.0, 0.0), (-0.0, -0.0), (INF, INF), (-INF, -INF), (NAN, NAN), (27.0, 3.0), (-8.0, -2.0)]),
        (Rsqrt, &[(0.0, INF), (-0.0, -INF), (INF, 0.0), (-1.0, NAN), (NAN, NAN), (0.25, 2.0)]),
        (Lgamma, &[(1.0, 0.0), (2.0, 0.0), (0.0, INF), (-0.0, INF), (-3.0, INF), (INF, INF), (-INF, INF), (NAN, NAN)]),
        (Erfinv, &[(0.0, 0.0), (-0.0, -0.0), (1.0, INF), (-1.0, -INF), (1.5, NAN), (-INF, NAN), (NAN, NAN)]),
        (Erfcinv, &[(1.0, 0.0), (0.0, INF), (-0.0, INF), (2.0, -INF), (-0.5, NAN), (2.5, NAN), (INF, NAN), (NAN, NAN)]),
        (Erfcx, &[(0.0, 1.0), (-0.0, 1.0), (INF, 0.0), (-INF, INF), (-1e4, INF), (NAN, NAN)]),
        (BesselJ0, &[(0.0, 1.0), (-0.0, 1.0), (INF, 0.0), (-INF, 0.0), (NAN, NAN)]),
        (BesselJ1, &[(0.0, 0.0), (-0.0, -0.0), (INF, 0.0), (-INF, -0.0), (NAN, NAN)]),
        (BesselY0, &[(0.0, -INF), (-0.0, -INF), (INF, 0.0), (-1.0, NAN), (-INF, NAN), (NAN, NAN)]),
        (BesselY1, &[(0.0, -INF), (-0.0, -INF), (INF, 0.0), (-1.0, NAN), (-INF, NAN), (NAN, NAN)]),
        (BesselI0, &[(0.0, 1.0), (-0.0, 1.0), (INF, INF), (-INF, INF), (1e4, INF), (NAN, NAN)]),
        (BesselI1, &[(0.0, 0.0), (-0.0, -0.0), (INF, INF), (-INF, -INF), (-1e4, -INF), (NAN, NAN)]),
        (Tgamma, &[(0.0, INF), (-0.0, -INF), (-2.0, NAN), (-INF, NAN), (INF, INF), (NAN, NAN), (1e4, INF)]),
    ]
};

/// Two arguments and the result.
type Pairs = &'static [(f64, f64, f64)];

#[rustfmt::skip]
const SPECIAL_PAIRS: &[(MathFunction, Pairs)] = {
    use MathFunction::*;
    &[
        (Pow, &[
            (0.0, -3.0, INF), (-0.0, -3.0, -INF), (-0.0, -2.0, INF), (0.0, -1.5, INF), (-0.0, -INF, INF), (0.0, 3.0, 0.0),
            (-0.0, 3.0, -0.0), (-0.0, 2.0, 0.0), (-0.0, 0.5, 0.0), (-1.0, INF, 1.0), (-1.0, -INF, 1.0), (1.0, NAN, 1.0),
            (1.0, INF, 1.0), (NAN, 0.0, 1.0), (INF, -0.0, 1.0), (-2.0, 0.5, NAN), (0.5, -INF, INF), (-2.0, -INF, 0.0),
            (-0.5, INF, 0.0), (2.0, INF, INF), (-INF, -3.0, -0.0), (-INF, -2.0, 0.0), (-INF, 3.0, -INF), (-INF, 0.5, INF),
            (INF, -1.0, 0.0), (INF, 0.5, INF), (NAN, 1.0, NAN), (2.0, NAN, NAN), (-2.0, 3.0, -8.0), (-2.0, -1.0, -0.5),
            (3.0, 4.0, 81.0), (-3.0, 1e30, INF), (-1.0, 1e30, 1.0), (-1.0, 8_388_607.0, -1.0), (0.0, 0.0, 1.0),
        ]),
        (Atan2, &[
            (0.0, 1.0, 0.0), (-0.0, 1.0, -0.0), (0.0, 0.0, 0.0), (-0.0, 0.0, -0.0), (1.0, INF, 0.0), (-1.0, INF, -0.0),
            (NAN, 1.0, NAN), (1.0, NAN, NAN), (-0.0, INF, -0.0),
        ]),
        (Hypot, &[
            (3.0, 4.0, 5.0), (-0.0, 2.0, 2.0), (INF, NAN, INF), (NAN, -INF, INF), (NAN, 1.0, NAN), (0.0, -0.0, 0.0),
        ]),
        (BesselJn, &[
            (0.0, 0.0, 1.0), (1.0, 0.0, 0.0), (-3.0, 0.0, -0.0), (5.0, INF, 0.0), (2.0, NAN, NAN), (60.0, 1e-6, 0.0),
        ]),
        (BesselYn, &[
            (0.0, 0.0, -INF), (3.0, 0.0, -INF), (-3.0, 0.0, INF), (-2.0, 0.0, -INF), (5.0, INF, 0.0), (2.0, -1.0, NAN),
            (2.0, NAN, NAN), (60.0, 1e-6, -INF),
        ]),
        (Fmod, &[
            (0.0, 1.0, 0.0), (-0.0, 1.0, -0.0), (1.0, 0.0, NAN), (INF, 1.0, NAN), (2.0, INF, 2.0), (-2.0, -INF, -2.0),
            (NAN, 1.0, NAN), (1.0, NAN, NAN), (-7.0, 2.5, -2.0), (7.0, -2.5, 2.0), (6.0, 3.0, 0.0), (-6.0, 3.0, -0.0),
        ]),
    ]
};

/// Ordinates, abscissas and angles at infinity and along the axes, as quarters of pi.
const ANGLES: &[(f64, f64, f64)] = &[
    (INF, INF, 1.0),
    (-INF, INF, -1.0),
    (INF, -INF, 3.0),
    (-INF, -INF, -3.0),
    (1.0, 0.0, 2.0),
    (-1.0, -0.0, -2.0),
    (INF, 1.0, 2.0),
    (-INF, -5.0, -2.0),
    (0.0, -1.0, 4.0),
    (-0.0, -1.0, -4.0),
    (0.0, -0.0, 4.0),
    (-0.0, -0.0, -4.0),
    (1.0, -INF, 4.0),
    (-1.0, -INF, -4.0),
    (1.0, 1.0, 1.0),
    (-2.0, -2.0, -3.0),
];

/// Holds results that the types have against those of the expansions, bit for bit.
fn check_special(function: MathFunction, rows: &[(Vec<f64>, f64)]) {
    for element in [Element::F32, Element::F64] {
        let bits = |value: f64| match element {
            Element::F32 => u64::from((value as f32).to_bits()),
            _ => value.to_bits(),
        };
        let column = |at: usize| rows.iter().map(|(arguments, _)| bits(arguments[at])).collect::<Vec<u64>>();
        let arguments: Vec<Vec<u64>> = (0..function.operands()).map(column).collect();
        for ((arguments, expected), found) in rows.iter().zip(run(function, element, &arguments)) {
            let is_nan = match element {
                Element::F32 => f32::from_bits(found as u32).is_nan(),
                _ => f64::from_bits(found).is_nan(),
            };
            let is_right = if expected.is_nan() { is_nan } else { found == bits(*expected) };
            assert!(is_right, "{function:?}{arguments:?} of {element:?}: {found:#x}, not {expected}");
        }
    }
}

#[test]
fn special_values_are_those_of_c() {
    for &(function, rows) in SPECIAL {
        let rows: Vec<_> = rows.iter().map(|&(x, result)| (vec![x], result)).collect();
        check_special(function, &rows);
    }
    for &(function, rows) in SPECIAL_PAIRS {
        let rows: Vec<_> = rows.iter().map(|&(x, y, result)| (vec![x, y], result)).collect();
        check_special(function, &rows);
    }
    let measured = MathFunction::ALL.iter().filter(|function| is_measured(**function)).count();
    assert_eq!(SPECIAL.len() + SPECIAL_PAIRS.len(), measured);
}

#[test]
fn angles_at_infinity_and_along_the_axes_are_those_of_c() {
    for element in [Element::F32, Element::F64] {
        let bits = |value: f64| if element == Element::F32 { (value as f32).to_bits().into() } else { value.to_bits() };
        let arguments = [0, 1].map(|at| ANGLES.iter().map(|row| bits([row.0, row.1][at])).collect());
        for (&(y, x, quarters), found) in ANGLES.iter().zip(run(MathFunction::Atan2, element, &arguments)) {
            // A quarter of pi to twice the digits.
            let [high, low] = [std::f64::consts::FRAC_PI_4, 3.061_616_997_868_383e-17].map(|part| quarters * part);
            let error = error(found, Truth { high, low }, element, i32::MIN);
            assert!(error <= bound(MathFunction::Atan2, element).expect("a bound"), "{y} {x}: {error}");
        }
    }
}

/// A kernel with functions of vectors, within regions, whose results others use.
fn nested() -> Kernel {
    let pointer = Type::Pointer(MemorySpace::Global);
    let mut builder = Builder::new("nested", Launch::new(4, 1), &[("to", pointer)]);
    let pair = Type::Vector(Element::F32, 2);
    let [from, to, step] = [0, 3, 1].map(|number| builder.i32(number));
    let first = builder.constant(pair, u64::from(0.5f32.to_bits()));
    let arguments = builder.begin_region(&[Type::Scalar(Element::I32), pair]);
    let one = builder.i32(1);
    let is_one = builder.compare(Compare::Eq, arguments[0], one);
    builder.begin_region(&[]);
    let power = builder.math(MathFunction::Exp, &[arguments[1]]);
    let then = builder.end_region(&[power]);
    builder.begin_region(&[]);
    let sine = builder.math(MathFunction::Sin, &[arguments[1]]);
    let otherwise = builder.end_region(&[sine]);
    let results = builder.if_else(is_one, then, otherwise, &[pair]);
    let angle = builder.math(MathFunction::Atan2, &[results[0], arguments[1]]);
    let sum = builder.binary(Binary::FAdd, angle, results[0]);
    let body = builder.end_region(&[sum]);
    let last = builder.for_loop(from, to, step, &[first], body);
    let to = builder.parameter(0);
    builder.store(to, 0, last[0], None);
    builder.finish()
}

fn functions(kernel: &Kernel) -> Vec<MathFunction> {
    let function = |op: &Op| if let Op::Math { function, .. } = op { Some(*function) } else { None };
    kernel.statements().iter().filter_map(|statement| function(&statement.op)).collect()
}

#[test]
fn what_is_native_stays_and_the_others_are_expanded_wherever_they_are() {
    let mut kernel = nested();
    expand(&mut kernel, |_, _| true);
    assert_eq!(kernel, nested());
    expand(&mut kernel, |function, element| function == MathFunction::Exp && element == Element::F32);
    assert_eq!(functions(&kernel), [MathFunction::Exp]);
    expand(&mut kernel, |_, element| element == Element::F64);
    assert_eq!(functions(&kernel), []);
    verify(&Module { kernels: vec![kernel] }).unwrap_or_else(|error| panic!("{error}"));
}

#[test]
fn an_expanded_kernel_computes_what_the_other_does() {
    let step = |x: f64, index: u32| {
        let result = if index == 1 { x.exp() } else { x.sin() };
        result.atan2(x) + result
    };
    let expected = (0..3).fold(0.5, step);
    let mut kernel = nested();
    expand(&mut kernel, |_, _| false);
    for kernel in [nested(), kernel] {
        let mut memory = GlobalMemory::new();
        let to = memory.allocate(8);
        let argument = Argument::Buffer(to);
        let (target, limits) = (emulator_target::target(true), RunLimits::default());
        tilewright_emulator::run(&kernel, &target, [1, 1, 1], &[argument], &mut memory, &limits)
            .unwrap_or_else(|fault| panic!("{fault}"));
        let bytes = memory.read_all(to).expect("it is written");
        for own in bytes.chunks(4) {
            let found = f32::from_le_bytes([own[0], own[1], own[2], own[3]]);
            assert!((f64::from(found) - expected).abs() < 1e-6, "{found} {expected}");
        }
    }
}
