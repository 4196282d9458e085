//! Tests of summation against published experiments on hardware, and bit by bit against an integer model that shares no
//! code with the implementation, only the definition of [`Summation`].

use super::*;
use tilewright_target::{ElementType, Evidence};

fn format(name: &str) -> FloatFormat {
    match ElementType::from_name(name) {
        Some(ElementType::Float(format)) => format,
        other => panic!("{name}: {other:?}"),
    }
}

fn summed(summation: Summation, [operands, accumulator]: [&str; 2], k: u32) -> FloatSummation {
    let sum = AccumulatorType::named(accumulator).unwrap_or(AccumulatorType::F32);
    let numerics = MmaNumerics { summation, nan_is_all_ones: true, evidence: Evidence::Assumed, source: String::new() };
    FloatSummation { sum, a: format(operands), b: format(operands), c: format(accumulator), numerics, k }
}

const fn aligned(group: u32, fraction: u32) -> Summation {
    Summation::Aligned { group, fraction, kept: 23 }
}

const fn floored(group: u32, interleaved: bool) -> Summation {
    Summation::Floored { group, fraction: 24, fraction_of_sum: 31, interleaved }
}

/// Sums products of `f16` values that are small multiples of powers of two, added to `c`.
fn sum_f16_products(summation: Summation, c: f32, products: &[(f32, f32)]) -> f32 {
    let bits = |value: f32| u64::from(half::f16::from_f32(value).to_bits());
    let operands: Vec<_> = products.iter().map(|&(a, b)| (bits(a), bits(b))).collect();
    let summed = summed(summation, ["f16", "f32"], operands.len() as u32);
    f32::from_bits(summed.total(u64::from(c.to_bits()), operands.into_iter()) as u32)
}

#[test]
fn extra_bits_and_cuts_are_those_that_experiments_found() {
    // Fasi et al. (2021) and FTTN (2024): MMA of compute capability 8.0 keeps one bit below binary32 when aligning, 9.0
    // keeps two; both truncate the result. gfx908 adds exactly and rounds to nearest.
    let (ampere, hopper, exact) = (aligned(8, 24), aligned(16, 25), Summation::Exact { group: 4 });
    let (bit, one_ulp) = (|power: i32| 2f32.powi(power), 1.0 + f32::EPSILON);
    // Four quarters of an ulp: one ulp if two extra bits are kept.
    let quarters = [(bit(-12), bit(-13)); 4];
    assert_eq!([ampere, hopper, exact].map(|unit| sum_f16_products(unit, 1.0, &quarters)), [1.0, one_ulp, one_ulp]);
    // Two halves of an ulp: kept by all.
    let half_ulps = [(bit(-12), bit(-12)); 2];
    assert_eq!([ampere, hopper, exact].map(|unit| sum_f16_products(unit, 1.0, &half_ulps)), [one_ulp; 3]);
    // Three quarters of an ulp: truncated, or rounded up.
    let rest = [(1.5 * bit(-12), bit(-12))];
    assert_eq!([ampere, hopper, exact].map(|unit| sum_f16_products(unit, 1.0, &rest)), [1.0, 1.0, one_ulp]);
    // Below one an ulp is half as large. The term is 1.5 ulp: with one extra bit less, 1 ulp remains; gfx908 has a tie.
    let below = [-(1.0 - bit(-24)), -(1.0 - bit(-23)), -(1.0 - bit(-23))];
    assert_eq!([ampere, hopper, exact].map(|unit| sum_f16_products(unit, -1.0, &rest)), below);
    // The running sum and a group are added at once: cancellation keeps the remainder of the same group only.
    let cancelling = [(1.0, 1.0), (bit(-12), bit(-13))];
    assert_eq!(sum_f16_products(exact, -1.0, &cancelling), bit(-25));
    assert_eq!(sum_f16_products(ampere, -1.0, &cancelling), 0.0, "cut at the exponent of what cancels");
}

#[test]
fn an_accumulator_of_thirteen_bits_keeps_thirteen_bits() {
    // DeepSeek-V3 technical report (2024): accumulation of 8-bit products keeps about 14 bits.
    let narrow = Summation::Aligned { group: 16, fraction: 13, kept: 13 };
    let one = 0x38u64;
    let summed = summed(narrow, ["e4m3", "f32"], 16);
    let added = |c: f32| f32::from_bits(summed.total(u64::from(c.to_bits()), [(one, one)].into_iter()) as u32);
    assert_eq!(added(8191.0), 8192.0);
    assert_eq!(added(16384.0), 16384.0, "one is below the last of fourteen bits");
}

#[test]
fn rounding_down_is_not_symmetric() {
    // MMA-Sim (2025): of a value far below one, gfx942 keeps nothing if positive and a whole ulp if negative.
    let (unit, tiny) = (floored(8, false), 2f32.powi(-14));
    let least = sum_f16_products(unit, 1.0, &[(tiny * 2f32.powi(-4), 2f32.powi(-14))]);
    assert_eq!(least, 1.0);
    let below = sum_f16_products(unit, 2f32.powi(-40), &[(-1.0, 1.0)]);
    assert_eq!(below, -1.0);
    let below = sum_f16_products(unit, -(2f32.powi(-40)), &[(1.0, 1.0)]);
    assert_eq!(below, 1.0 - 2f32.powi(-24), "what is below was rounded down to a whole place of 24 bits");
}

#[test]
fn subnormals_become_zero_in_a_tree() {
    let (least, unit) = (2f32.powi(-24), Summation::Tree { group: 4 });
    assert_eq!(
        sum_f16_products(unit, 0.0, &[(least, 1.0), (2f32.powi(-14), 1.0), (0.0, 0.0), (0.0, 0.0)]),
        2f32.powi(-14)
    );
    assert_eq!(sum_f16_products(aligned(8, 24), 0.0, &[(least, 1.0)]), least);
    // A subnormal running sum, and subnormal accumulators.
    assert_eq!(sum_f16_products(unit, f32::from_bits(1), &[(0.0, 0.0); 4]), 0.0);
    // Pairs are added first: (1 - 1) + (2^-24 + 0); in the order of K the last term would cancel the first's remainder.
    let products = [(1.0, 1.0), (2f32.powi(-12), 2f32.powi(-13)), (0.0, 0.0), (-1.0, 1.0)];
    assert_eq!(sum_f16_products(unit, 0.0, &products), 0.0);
    assert_eq!(sum_f16_products(unit, 0.0, &[products[0], products[3], products[1], products[2]]), 2f32.powi(-25));
}

/// With a zero accumulator the exponents of the products decide, however wide the accumulator's exponent range is.
#[test]
fn zero_has_no_exponent_to_align_by() {
    let bits = |power: i32| u64::from(half::f16::from_f64(2f64.powi(power)).to_bits());
    let summed = summed(aligned(8, 24), ["f16", "f16"], 2);
    // Half of the minimum subnormal and a little more: rounded up.
    let products = [(bits(-12), bits(-13)), (bits(-20), bits(-20))];
    assert_eq!(summed.total(0, products.into_iter()), 1);
    assert_eq!(summed.total(0, products.into_iter().take(1)), 0, "a tie goes to even");
}

/// A negative accumulator 25 binary places below the products rounds toward minus infinity, and one 26 places below
/// contributes nothing. Even and odd products are added separately first (`interleaved`).
#[test]
fn accumulators_far_below_interleaved_products_vanish() {
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
        assert_eq!(sum_f16_products(unit, 1.0, &[infinity, one]), f32::INFINITY);
        assert_eq!(sum_f16_products(unit, 1.0, &[(f32::NEG_INFINITY, 1.0), one]), f32::NEG_INFINITY);
        assert_eq!(sum_f16_products(unit, f32::NEG_INFINITY, &[infinity, one]).to_bits(), 0x7fff_ffff);
        assert!(sum_f16_products(unit, 1.0, &[(f32::INFINITY, 0.0), one]).is_nan());
    }
    assert_eq!(
        sum_f16_products(aligned(8, 24), f32::MAX, &[(65504.0, 65504.0)]),
        f32::MAX,
        "it is far below the last place"
    );
}

/// A finite element as an integer times 2^`lsb_exponent`, with the exponent that aligns it with other terms.
#[derive(Clone, Copy, Debug)]
struct ScaledInteger {
    value: i128,
    lsb_exponent: i32,
    exponent: i32,
}

fn to_scaled_integer(format: FloatFormat, bits: u64) -> ScaledInteger {
    let [exponent, mantissa, below] = format.field_widths();
    let bits = bits >> below;
    let (field, fraction) = (bits >> mantissa & ((1 << exponent) - 1), bits & ((1 << mantissa) - 1));
    let sign = if bits >> (exponent + mantissa) & 1 == 1 { -1 } else { 1 };
    let (leading, field) = if field == 0 { (0, 1) } else { (1i128 << mantissa, field) };
    let exponent = field as i32 - format.bias();
    ScaledInteger { value: sign * (leading + i128::from(fraction)), lsb_exponent: exponent - mantissa as i32, exponent }
}

/// Converts a scaled integer to units of 2^`at`, rounded down if `floors`, else toward zero.
fn moved(ScaledInteger { value, lsb_exponent, .. }: ScaledInteger, at: i32, floors: bool) -> i128 {
    match lsb_exponent - at {
        left if left >= 0 => value << left,
        right if floors => value >> (-right).min(127),
        right => value.signum() * (value.abs() >> (-right).min(127)),
    }
}

/// Rounds `value` times 2^`lsb_exponent` to binary32: to nearest even, or truncated to `kept` fraction bits.
fn in_binary32(value: i128, lsb_exponent: i32, kept: u32, nearest: bool) -> f32 {
    let magnitude = value.unsigned_abs();
    if magnitude == 0 {
        return 0.0;
    }
    let top = magnitude.ilog2() as i32 + lsb_exponent;
    let last = top.max(-126) - kept as i32;
    let drop = (last - lsb_exponent).max(0) as u32;
    let mut significand = if drop > 127 { 0 } else { magnitude >> drop };
    if nearest && drop > 0 && drop <= 127 {
        let (rest, half) = (magnitude & ((1 << drop) - 1), 1u128 << (drop - 1));
        significand += u128::from(rest > half || rest == half && significand & 1 == 1);
    }
    let found = (significand as f64 * 2f64.powi(lsb_exponent + drop as i32)) as f32;
    if value < 0 { -found } else { found }
}

fn modelled(summed: &FloatSummation, c: u64, operands: &[(u64, u64)]) -> f32 {
    let group = summed.numerics.summation.group_size(summed.k) as usize;
    let mut sum = f32::from_bits(c as u32);
    for group in operands.chunks(group) {
        let products: Vec<ScaledInteger> = group
            .iter()
            .map(|&(a, b)| {
                let (a, b) = (to_scaled_integer(summed.a, a), to_scaled_integer(summed.b, b));
                let value = a.value * b.value;
                let exponent = if value == 0 { -126 } else { a.exponent + b.exponent };
                ScaledInteger { value, lsb_exponent: a.lsb_exponent + b.lsb_exponent, exponent }
            })
            .collect();
        let before = to_scaled_integer(format("f32"), u64::from(sum.to_bits()));
        let greatest = |all: &[ScaledInteger]| all.iter().map(|term| term.exponent).max().unwrap_or(-126);
        let cut = |all: &[ScaledInteger], at: i32| {
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
                let at = all.iter().filter(|term| term.value != 0).map(|term| term.lsb_exponent).min().unwrap_or(0);
                in_binary32(cut(&all, at), at, 23, true)
            }
            Summation::Floored { fraction, fraction_of_sum, interleaved, .. } => {
                let fraction = fraction as i32;
                let groups: Vec<Vec<ScaledInteger>> = if interleaved {
                    [0, 1].map(|first| products.iter().copied().skip(first).step_by(2).collect()).into()
                } else {
                    vec![products.clone()]
                };
                let middle = greatest(&products);
                let of_chunk = |chunk_terms: &Vec<ScaledInteger>| {
                    let at = greatest(chunk_terms) - fraction;
                    moved(
                        ScaledInteger { value: cut(chunk_terms, at), lsb_exponent: at, exponent: 0 },
                        middle - fraction,
                        true,
                    )
                };
                let products = ScaledInteger {
                    value: groups.iter().map(of_chunk).sum(),
                    lsb_exponent: middle - fraction,
                    exponent: 0,
                };
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
fn summations_match_the_integer_model() {
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
    for (summation, operands) in cases {
        let summed = summed(summation, [operands, "f32"], 32);
        let [exponent, mantissa, below] = summed.a.field_widths();
        // Arbitrary finite values; formats with a wide exponent range use exponents near the bias, so that the model's
        // integers suffice.
        let mut element = |spread: u64| {
            let (all, bias) = (1u64 << exponent, summed.a.bias() as u64);
            let field = if exponent < 8 { noise() % (all - 1) } else { bias + noise() % spread - spread / 2 };
            let bits = (noise() & 1) << (exponent + mantissa) | field << mantissa | noise() & ((1 << mantissa) - 1);
            let negative_zero = 1 << (exponent + mantissa);
            if bits == negative_zero { 0 } else { bits << below }
        };
        for sample in 0..4000 {
            let spread = [4, 12, 30][sample % 3];
            let pairs: Vec<_> = (0..32).map(|_| (element(spread), element(spread))).collect();
            let c = (1.0f32 + (sample as f32) / 977.0) * 2f32.powi((sample % 41) as i32 - 20);
            let c = u64::from(if sample % 5 == 0 { 0 } else { c.to_bits() });
            let found = f32::from_bits(summed.total(c, pairs.iter().copied()) as u32);
            let expected = modelled(&summed, c, &pairs);
            assert_eq!(found, expected, "{summation:?} of {operands}, trial {sample}: {pairs:x?} to {c:x}");
        }
    }
}

#[test]
fn a_row_is_added_as_its_elements_are_one_by_one() {
    let (k, columns) = (32, 11);
    let mut state = 7u64;
    let mut finite = move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let bits = state >> 48;
        if bits & 0x7c00 == 0x7c00 { 0 } else { bits }
    };
    for unit in [aligned(16, 25), aligned(8, 24)] {
        let summed = summed(unit, ["f16", "f32"], k as u32);
        let a: Vec<u64> = (0..k).map(|_| finite()).collect();
        let b: Vec<u64> = (0..k * columns).map(|_| finite()).collect();
        let c: Vec<f32> = (0..columns).map(|column| [0.5, -0.0, f32::INFINITY, 3e38][column % 4]).collect();
        let mut accumulators: Vec<f64> = c.iter().map(|&c| c.into()).collect();
        let (of_a, of_b) = (OperandValues::new(a.clone(), summed.a), OperandValues::new(b.clone(), summed.b));
        assert!(summed.adds_rows(&of_a, &of_b));
        summed.add_row(&mut accumulators, (&of_a, 0), (&of_b, 0), k);
        let one_by_one = (0..columns).map(|column| {
            let operands = (0..k).map(|at| (a[at], b[at * columns + column]));
            summed.total(c[column].to_bits().into(), operands)
        });
        assert_eq!(
            accumulators.iter().map(|&sum| summed.encoded(sum)).collect::<Vec<_>>(),
            one_by_one.collect::<Vec<_>>()
        );
    }
    let infinite = OperandValues::new(vec![0x7c00], format("f16"));
    assert!(!summed(aligned(8, 24), ["f16", "f32"], 8).adds_rows(&infinite, &infinite));
}
