//! Sums beside what experiments on hardware found, and bit by bit beside a model in integers, which shares nothing with
//! the code but the words of [`Summation`].

use super::*;
use tilewright_target::{ElementType, Evidence};

fn format(name: &str) -> Format {
    match ElementType::named(name) {
        Some(ElementType::Float(format)) => format,
        other => panic!("{name}: {other:?}"),
    }
}

fn summed(summation: Summation, [factors, accumulator]: [&str; 2], k: u32) -> Summed {
    let sum = Sum::named(accumulator).unwrap_or(Sum::F32);
    let numerics = Numerics { summation, nan_is_all_ones: true, evidence: Evidence::Assumed, source: String::new() };
    Summed { sum, a: format(factors), b: format(factors), c: format(accumulator), numerics, k }
}

const fn aligned(group: u32, fraction: u32) -> Summation {
    Summation::Aligned { group, fraction, kept: 23 }
}

const fn floored(group: u32, interleaved: bool) -> Summation {
    Summation::Floored { group, fraction: 24, fraction_of_sum: 31, interleaved }
}

/// Products of f16 that are powers of two or small multiples of one, added to `c`.
fn of_halves(summation: Summation, c: f32, products: &[(f32, f32)]) -> f32 {
    let bits = |value: f32| u64::from(half::f16::from_f32(value).to_bits());
    let factors: Vec<_> = products.iter().map(|&(a, b)| (bits(a), bits(b))).collect();
    let summed = summed(summation, ["f16", "f32"], factors.len() as u32);
    f32::from_bits(summed.total(u64::from(c.to_bits()), factors.into_iter()) as u32)
}

#[test]
fn extra_bits_and_cuts_are_those_that_experiments_found() {
    // Fasi et al. (2021) and FTTN (2024): units of compute capability 8.0 keep one bit below those of binary32 where they
    // align, those of 9.0 two; both cut what they return. gfx908 adds exactly and rounds to nearest.
    let (ampere, hopper, exact) = (aligned(8, 24), aligned(16, 25), Summation::Exact { group: 4 });
    let (bit, one_ulp) = (|power: i32| 2f32.powi(power), 1.0 + f32::EPSILON);
    // Four times a quarter of the last place: a whole one, if two bits are kept.
    let quarters = [(bit(-12), bit(-13)); 4];
    assert_eq!([ampere, hopper, exact].map(|unit| of_halves(unit, 1.0, &quarters)), [1.0, one_ulp, one_ulp]);
    // Twice half of it: kept by all.
    let halves = [(bit(-12), bit(-12)); 2];
    assert_eq!([ampere, hopper, exact].map(|unit| of_halves(unit, 1.0, &halves)), [one_ulp; 3]);
    // Three quarters of it: cut, or rounded up.
    let rest = [(1.5 * bit(-12), bit(-12))];
    assert_eq!([ampere, hopper, exact].map(|unit| of_halves(unit, 1.0, &rest)), [1.0, 1.0, one_ulp]);
    // Below one the places are half as far apart: one and a half of them, of which one bit less keeps one; a tie.
    let below = [-(1.0 - bit(-24)), -(1.0 - bit(-23)), -(1.0 - bit(-23))];
    assert_eq!([ampere, hopper, exact].map(|unit| of_halves(unit, -1.0, &rest)), below);
    // The sum so far and a group are added at once: what cancels leaves the rest, of the same group only.
    let cancelling = [(1.0, 1.0), (bit(-12), bit(-13))];
    assert_eq!(of_halves(exact, -1.0, &cancelling), bit(-25));
    assert_eq!(of_halves(ampere, -1.0, &cancelling), 0.0, "cut at the exponent of what cancels");
}

#[test]
fn an_accumulator_of_thirteen_bits_keeps_thirteen_bits() {
    // DeepSeek-V3 technical report (2024): sums of eight-bit products keep some 14 bits.
    let narrow = Summation::Aligned { group: 16, fraction: 13, kept: 13 };
    let one = 0x38u64;
    let summed = summed(narrow, ["e4m3", "f32"], 16);
    let added = |c: f32| f32::from_bits(summed.total(u64::from(c.to_bits()), [(one, one)].into_iter()) as u32);
    assert_eq!(added(8191.0), 8192.0);
    assert_eq!(added(16384.0), 16384.0, "one is below the last of fourteen bits");
}

#[test]
fn rounding_down_is_not_symmetric() {
    // Of so little beside one, gfx942 keeps nothing above and a whole place below: MMA-Sim (2025).
    let (unit, tiny) = (floored(8, false), 2f32.powi(-14));
    let least = of_halves(unit, 1.0, &[(tiny * 2f32.powi(-4), 2f32.powi(-14))]);
    assert_eq!(least, 1.0);
    let below = of_halves(unit, 2f32.powi(-40), &[(-1.0, 1.0)]);
    assert_eq!(below, -1.0);
    let below = of_halves(unit, -(2f32.powi(-40)), &[(1.0, 1.0)]);
    assert_eq!(below, 1.0 - 2f32.powi(-24), "what is below was rounded down to a whole place of 24 bits");
}

#[test]
fn subnormals_become_zero_in_a_tree() {
    let (least, unit) = (2f32.powi(-24), Summation::Tree { group: 4 });
    assert_eq!(of_halves(unit, 0.0, &[(least, 1.0), (2f32.powi(-14), 1.0), (0.0, 0.0), (0.0, 0.0)]), 2f32.powi(-14));
    assert_eq!(of_halves(aligned(8, 24), 0.0, &[(least, 1.0)]), least);
    // The sum so far, and sums.
    assert_eq!(of_halves(unit, f32::from_bits(1), &[(0.0, 0.0); 4]), 0.0);
    // Pairs are added first: (1 - 1) + (2^-24 + 0), while the order of K would lose the last to the first.
    let products = [(1.0, 1.0), (2f32.powi(-12), 2f32.powi(-13)), (0.0, 0.0), (-1.0, 1.0)];
    assert_eq!(of_halves(unit, 0.0, &products), 0.0);
    assert_eq!(of_halves(unit, 0.0, &[products[0], products[3], products[1], products[2]]), 2f32.powi(-25));
}

/// Of a sum that begins at zero the products' exponents decide, however wide the exponents of its type are.
#[test]
fn zero_has_no_exponent_to_align_by() {
    let bits = |power: i32| u64::from(half::f16::from_f64(2f64.powi(power)).to_bits());
    let summed = summed(aligned(8, 24), ["f16", "f16"], 2);
    // Half of the least number, and a little more: up.
    let products = [(bits(-12), bits(-13)), (bits(-20), bits(-20))];
    assert_eq!(summed.total(0, products.into_iter()), 1);
    assert_eq!(summed.total(0, products.into_iter().take(1)), 0, "a tie goes to even");
}

/// The sum so far is rounded down beside products, and lost from the next place on.
#[test]
fn sums_far_below_interleaved_products_vanish() {
    let one = 0x40u64;
    let summed = summed(floored(16, true), ["fp8_fnuz", "f32"], 16);
    let added = |c: f32| f32::from_bits(summed.total(u64::from(c.to_bits()), [(one, one)].into_iter()) as u32);
    assert_eq!(added(-(2f32.powi(-25))), 1.0 - 2f32.powi(-24));
    assert_eq!(added(-(2f32.powi(-26))), 1.0);
}

#[test]
fn a_result_that_is_subnormal_becomes_zero_in_a_tree() {
    let summed = summed(Summation::Tree { group: 2 }, ["bf16", "f32"], 2);
    let root = 64u64 << 7;
    let added =
        |c: f32| f32::from_bits(summed.total(u64::from(c.to_bits()), [(root, root), (0, 0)].into_iter()) as u32);
    assert_eq!(added(-3.0 * f32::MIN_POSITIVE), -2.0 * f32::MIN_POSITIVE);
    assert_eq!(added(-1.5 * f32::MIN_POSITIVE), 0.0);
}

#[test]
fn what_is_not_finite_stays_so() {
    for unit in [aligned(8, 24), floored(8, false), Summation::Exact { group: 4 }, Summation::Tree { group: 4 }] {
        let (infinity, one) = ((f32::INFINITY, 1.0), (1.0, 1.0));
        assert_eq!(of_halves(unit, 1.0, &[infinity, one]), f32::INFINITY);
        assert_eq!(of_halves(unit, 1.0, &[(f32::NEG_INFINITY, 1.0), one]), f32::NEG_INFINITY);
        assert_eq!(of_halves(unit, f32::NEG_INFINITY, &[infinity, one]).to_bits(), 0x7fff_ffff);
        assert!(of_halves(unit, 1.0, &[(f32::INFINITY, 0.0), one]).is_nan());
    }
    assert_eq!(of_halves(aligned(8, 24), f32::MAX, &[(65504.0, 65504.0)]), f32::MAX, "it is far below the last place");
}

/// A finite element as an integer times a power of two, with the exponent by which it is aligned.
#[derive(Clone, Copy, Debug)]
struct Whole {
    value: i128,
    place: i32,
    exponent: i32,
}

fn whole(format: Format, bits: u64) -> Whole {
    let [exponent, mantissa, below] = format.widths();
    let bits = bits >> below;
    let (field, fraction) = (bits >> mantissa & ((1 << exponent) - 1), bits & ((1 << mantissa) - 1));
    let sign = if bits >> (exponent + mantissa) & 1 == 1 { -1 } else { 1 };
    let (leading, field) = if field == 0 { (0, 1) } else { (1i128 << mantissa, field) };
    let exponent = field as i32 - format.bias();
    Whole { value: sign * (leading + i128::from(fraction)), place: exponent - mantissa as i32, exponent }
}

/// `value` times 2^`place` in units of 2^`at`, by a rule for what is below.
fn moved(Whole { value, place, .. }: Whole, at: i32, floors: bool) -> i128 {
    match place - at {
        left if left >= 0 => value << left,
        right if floors => value >> (-right).min(127),
        right => value.signum() * (value.abs() >> (-right).min(127)),
    }
}

/// `value` times 2^`place` in binary32: to nearest even, or cut to `kept` bits of fraction.
fn in_binary32(value: i128, place: i32, kept: u32, nearest: bool) -> f32 {
    let magnitude = value.unsigned_abs();
    if magnitude == 0 {
        return 0.0;
    }
    let top = magnitude.ilog2() as i32 + place;
    let last = top.max(-126) - kept as i32;
    let drop = (last - place).max(0) as u32;
    let mut whole = if drop > 127 { 0 } else { magnitude >> drop };
    if nearest && drop > 0 && drop <= 127 {
        let (rest, half) = (magnitude & ((1 << drop) - 1), 1u128 << (drop - 1));
        whole += u128::from(rest > half || rest == half && whole & 1 == 1);
    }
    let found = (whole as f64 * 2f64.powi(place + drop as i32)) as f32;
    if value < 0 { -found } else { found }
}

fn modelled(summed: &Summed, c: u64, factors: &[(u64, u64)]) -> f32 {
    let group = summed.numerics.summation.group(summed.k) as usize;
    let mut sum = f32::from_bits(c as u32);
    for group in factors.chunks(group) {
        let products: Vec<Whole> = group
            .iter()
            .map(|&(a, b)| {
                let (a, b) = (whole(summed.a, a), whole(summed.b, b));
                let value = a.value * b.value;
                let exponent = if value == 0 { -126 } else { a.exponent + b.exponent };
                Whole { value, place: a.place + b.place, exponent }
            })
            .collect();
        let before = whole(format("f32"), u64::from(sum.to_bits()));
        let greatest = |all: &[Whole]| all.iter().map(|term| term.exponent).max().unwrap_or(-126);
        let cut = |all: &[Whole], at: i32| {
            all.iter().filter(|term| term.value != 0).map(|&term| moved(term, at, false)).sum::<i128>()
        };
        sum = match summed.numerics.summation {
            Summation::Aligned { fraction, kept, .. } => {
                let all = [products, vec![before]].concat();
                let at = greatest(&all) - fraction as i32;
                in_binary32(cut(&all, at), at, kept, false)
            }
            Summation::Exact { .. } => {
                let all = [products, vec![before]].concat();
                let at = all.iter().filter(|term| term.value != 0).map(|term| term.place).min().unwrap_or(0);
                in_binary32(cut(&all, at), at, 23, true)
            }
            Summation::Floored { fraction, fraction_of_sum, interleaved, .. } => {
                let fraction = fraction as i32;
                let parts: Vec<Vec<Whole>> = if interleaved {
                    [0, 1].map(|first| products.iter().copied().skip(first).step_by(2).collect()).into()
                } else {
                    vec![products.clone()]
                };
                let middle = greatest(&products);
                let of_part = |part: &Vec<Whole>| {
                    let at = greatest(part) - fraction;
                    moved(Whole { value: cut(part, at), place: at, exponent: 0 }, middle - fraction, true)
                };
                let products = Whole { value: parts.iter().map(of_part).sum(), place: middle - fraction, exponent: 0 };
                let top = middle.max(before.exponent);
                let at = top - fraction_of_sum as i32;
                let vanishes = interleaved && before.exponent < top - fraction - 1;
                let kept = if vanishes { 0 } else { moved(before, top - fraction, true) };
                in_binary32(moved(products, at, true) + (kept << (fraction_of_sum as i32 - fraction)), at, 23, true)
            }
            other => panic!("{other:?} has no model"),
        };
    }
    sum
}

#[test]
fn sums_are_those_of_the_model_in_integers() {
    let narrow = Summation::Aligned { group: 16, fraction: 13, kept: 13 };
    let cases = [
        (aligned(8, 24), "f16"),
        (aligned(16, 25), "bf16"),
        (aligned(4, 24), "tf32"),
        (aligned(32, 25), "e5m2"),
        (narrow, "e4m3"),
        (Summation::Exact { group: 4 }, "f16"),
        (Summation::Exact { group: 2 }, "bf16"),
        (floored(8, false), "f16"),
        (floored(8, false), "bf16"),
        (floored(4, false), "tf32"),
        (floored(16, true), "fp8_fnuz"),
        (floored(16, true), "bf8_fnuz"),
    ];
    let mut state = 1u64;
    let mut noise = move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) ^ (state >> 11)
    };
    for (summation, factors) in cases {
        let summed = summed(summation, [factors, "f32"], 32);
        let [exponent, mantissa, below] = summed.a.widths();
        // Any finite numbers; of many exponents those near one, so that integers have room for all.
        let mut element = |spread: u64| {
            let (all, bias) = (1u64 << exponent, summed.a.bias() as u64);
            let field = if exponent < 8 { noise() % (all - 1) } else { bias + noise() % spread - spread / 2 };
            let bits = (noise() & 1) << (exponent + mantissa) | field << mantissa | noise() & ((1 << mantissa) - 1);
            let negative_zero = 1 << (exponent + mantissa);
            if bits == negative_zero { 0 } else { bits << below }
        };
        for trial in 0..4000 {
            let spread = [4, 12, 30][trial % 3];
            let pairs: Vec<_> = (0..32).map(|_| (element(spread), element(spread))).collect();
            let c = (1.0f32 + (trial as f32) / 977.0) * 2f32.powi((trial % 41) as i32 - 20);
            let c = u64::from(if trial % 5 == 0 { 0 } else { c.to_bits() });
            let found = f32::from_bits(summed.total(c, pairs.iter().copied()) as u32);
            let expected = modelled(&summed, c, &pairs);
            assert_eq!(found, expected, "{summation:?} of {factors}, trial {trial}: {pairs:x?} to {c:x}");
        }
    }
}
