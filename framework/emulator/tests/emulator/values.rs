//! Operations on values, compared with the host's arithmetic and with exact arithmetic in `f64`.

use tilewright_testkit::emulator_target;

use emulator_target::{apply, kernel, target, written};
use half::{bf16, f16};
use proptest::prelude::*;
use tilewright_emulator::{Argument, GlobalMemory, RunLimits, run_kernel};

fn binary(ty: &str, bytes: usize, op: &str, pairs: &[(u64, u64)]) -> Vec<u64> {
    apply((ty, bytes), (ty, bytes), &format!("%8: {ty} = binary {op} %5, %6"), pairs)
}

const INTERESTING: [u64; 10] = [0, 1, 2, 7, 31, 0x7fff_ffff, 0x8000_0000, 0xffff_ffff, 0x1234_5678_9abc_def0, u64::MAX];

fn all_pairs(bits: u32) -> Vec<(u64, u64)> {
    let mask = u64::MAX >> (64 - bits);
    let interesting = || INTERESTING.into_iter().map(|value| value & mask);
    interesting().flat_map(|a| interesting().map(move |b| (a, b))).collect()
}

/// Checks a binary operation on all pairs of values against an expected value; `None` accepts any result.
fn check(bits: u32, op: &str, expected: impl Fn(u128, u128) -> Option<u128>) {
    let mask = u64::MAX >> (64 - bits);
    let pairs = all_pairs(bits);
    let results = binary(&format!("i{bits}"), bits as usize / 8, op, &pairs);
    for (&(a, b), result) in pairs.iter().zip(results) {
        if let Some(expected) = expected(u128::from(a), u128::from(b)) {
            assert_eq!(result, expected as u64 & mask, "{op} i{bits} {a:#x} {b:#x}");
        }
    }
}

#[test]
fn integers_compute_modulo_their_width() {
    for bits in [8, 16, 32, 64] {
        let width = u128::from(bits);
        let sign = |a: u128| if a >> (width - 1) == 1 { a as i128 - (1 << width) } else { a as i128 };
        check(bits, "add", |a, b| Some(a + b));
        check(bits, "sub", |a, b| Some((1 << width) + a - b));
        check(bits, "mul", |a, b| Some(a.wrapping_mul(b)));
        check(bits, "and", |a, b| Some(a & b));
        check(bits, "or", |a, b| Some(a | b));
        check(bits, "xor", |a, b| Some(a ^ b));
        check(bits, "shl", |a, b| (b < width).then(|| a << b));
        check(bits, "shr_u", |a, b| (b < width).then(|| a >> b));
        check(bits, "shr_s", |a, b| (b < width).then(|| (sign(a) >> b) as u128));
        check(bits, "div_u", |a, b| a.checked_div(b));
        check(bits, "rem_u", |a, b| a.checked_rem(b));
    }
}

#[test]
fn comparisons_distinguish_signed_from_unsigned() {
    for bits in [8, 16, 32, 64] {
        let pairs = all_pairs(bits);
        let sign = |a: u64| (a << (64 - bits)) as i64;
        type Test<'a> = Box<dyn Fn(u64, u64) -> bool + 'a>;
        let tests: [(&str, Test<'_>); 6] = [
            ("eq", Box::new(|a, b| a == b)),
            ("ne", Box::new(|a, b| a != b)),
            ("lt_u", Box::new(|a, b| a < b)),
            ("le_u", Box::new(|a, b| a <= b)),
            ("lt_s", Box::new(|a, b| sign(a) < sign(b))),
            ("le_s", Box::new(|a, b| sign(a) <= sign(b))),
        ];
        for (op, test) in tests {
            let statement = format!("%7: i1 = compare {op} %5, %6\n %8: i8 = cast extend_u %7");
            let results = apply((&format!("i{bits}"), bits as usize / 8), ("i8", 1), &statement, &pairs);
            for (&(a, b), result) in pairs.iter().zip(results) {
                assert_eq!(result != 0, test(a, b), "{op} i{bits} {a:#x} {b:#x}");
            }
        }
    }
}

#[test]
fn casts_keep_cut_and_widen_bits() {
    let value = [(0x89ab_cdef, 0)];
    let cast = |to: (&str, usize), op: &str| apply(("i32", 4), to, &format!("%8: {} = cast {op} %5", to.0), &value)[0];
    assert_eq!(cast(("i8", 1), "truncate"), 0xef);
    assert_eq!(cast(("i64", 8), "extend_u"), 0x89ab_cdef);
    assert_eq!(cast(("i64", 8), "extend_s"), 0xffff_ffff_89ab_cdef);
    assert_eq!(cast(("f32", 4), "bits"), 0x89ab_cdef);
    // Element 0 of a vector has the lowest bits, in registers as in memory.
    let split = "%7: 4xi8 = cast bits %5\n %9: i8 = extract %7, 1\n %8: i32 = cast extend_s %9";
    assert_eq!(apply(("i32", 4), ("i32", 4), split, &value), [0xffff_ffcd]);
    let joined = "%7: 2xi32 = pack %5, %6\n %8: i64 = cast bits %7";
    assert_eq!(apply(("i32", 4), ("i64", 8), joined, &[(1, 2)]), [0x0000_0002_0000_0001]);
    let across = "%7: 2xi32 = pack %5, %6\n %9: 4xf16 = cast bits %7\n %10000: f16 = extract %9, 2
        %8: i16 = cast bits %10000";
    assert_eq!(apply(("i32", 4), ("i16", 2), across, &[(1, 0x5555_6666)]), [0x6666]);
    let stored = "%8: 2xi32 = pack %5, %6";
    assert_eq!(apply(("i32", 4), ("2xi32", 8), stored, &[(1, 2)]), [0x0000_0002_0000_0001]);
}

#[test]
fn selects_and_permutes_choose() {
    let select = "%7: i1 = compare lt_u %5, %6\n %8: i32 = select %7, %5, %6";
    assert_eq!(apply(("i32", 4), ("i32", 4), select, &[(3, 5), (9, 5)]), [3, 5]);
    let vectors = "%7: i1 = compare lt_u %5, %6\n %9: 2xi32 = pack %5, %6\n %10000: 2xi32 = pack %6, %5
        %8: 2xi32 = select %7, %9, %10000";
    assert_eq!(apply(("i32", 4), ("2xi32", 8), vectors, &[(3, 5), (9, 5)]), [5 << 32 | 3, 9 << 32 | 5]);
    let permute = |selector: &str| {
        let statement = format!("%8: i32 = permute_bytes %5, %6, {selector}");
        apply(("i32", 4), ("i32", 4), &statement, &[(0x4433_2211, 0x8877_6655)])[0]
    };
    assert_eq!(permute("0x3210"), 0x4433_2211);
    assert_eq!(permute("0x7654"), 0x8877_6655);
    assert_eq!(permute("0x5410"), 0x6655_2211);
    assert_eq!(permute("0x0637"), 0x1177_4488);
    let either = "%7: i1 = compare lt_u %5, %6\n %8: i32 = permute_bytes %5, %6, 0x7654 or 0x0123 if %7";
    let operands = [(0x1122_3344, 0x5566_7788), (0x5566_7788, 0x1122_3344)];
    assert_eq!(apply(("i32", 4), ("i32", 4), either, &operands), [0x4433_2211, 0x1122_3344]);
}

#[test]
fn lanes_that_differ_in_one_bit_swap_two_words() {
    let inputs: Vec<(u64, u64)> = (0..8).map(|lane| (100 + lane, 200 + lane)).collect();
    for lane in [1, 2, 4] {
        let swap = format!("%7: i32, %9: i32 = swap {lane} all %5, %6\n %8: 2xi32 = pack %7, %9");
        let found = apply(("i32", 4), ("2xi32", 8), &swap, &inputs);
        // The lanes with the bit set exchange their first word for the others' second.
        let expected = (0..8).map(|own: u64| {
            let across = own ^ lane;
            let (first, second) = if own & lane == 0 { (100 + own, 100 + across) } else { (200 + across, 200 + own) };
            second << 32 | first
        });
        assert_eq!(found, expected.collect::<Vec<_>>(), "lane bit {lane}");
    }
}

#[test]
fn negation_flips_the_sign_bit_alone() {
    let negate = |ty: &str, bytes: usize, bits: u64| {
        apply((ty, bytes), (ty, bytes), &format!("%8: {ty} = unary f_neg %5"), &[(bits, 0)])[0]
    };
    assert_eq!(negate("f16", 2, 0x0000), 0x8000);
    assert_eq!(negate("bf16", 2, 0x3f80), 0xbf80);
    assert_eq!(negate("f32", 4, 0x7fc0_0001), 0xffc0_0001);
    assert_eq!(negate("f64", 8, 1 << 63), 0);
}

/// Returns the bits of the 16-bit floating-point value that is nearest to an exact value, with ties to even, by
/// comparison with the two values around it. `infinity` are the bits of positive infinity.
fn nearest(exact: f64, to_f64: impl Fn(u16) -> f64, infinity: u16) -> u16 {
    let sign = if exact.is_sign_negative() { 0x8000 } else { 0 };
    let magnitude = exact.abs();
    // Values ascend with their bits.
    let above = (0..=infinity).collect::<Vec<_>>().partition_point(|&bits| to_f64(bits) < magnitude) as u16;
    if above == 0 || (above <= infinity && to_f64(above) == magnitude) {
        return sign | above;
    }
    let below = above - 1;
    // Beyond the greatest value, the midpoint continues the exponent range.
    let high = if above == infinity { 2.0 * to_f64(below) - to_f64(below - 1) } else { to_f64(above) };
    let middle = (to_f64(below) + high) / 2.0;
    let up = magnitude > middle || (magnitude == middle && above.is_multiple_of(2));
    sign | if up { above } else { below }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Sums and products of two `f16` values are exact in `f64`.
    #[test]
    fn f16_is_rounded_to_nearest_even(pairs in prop::collection::vec((any::<u16>(), any::<u16>()), 8)) {
        let to_f64 = |bits: u16| f16::from_bits(bits).to_f64();
        check_rounding("f16", &pairs, to_f64, 0x7c00, |_, _, _| true)?;
    }

    /// Products of two `bf16` values are exact in `f64` in its range; sums if the exponents are close.
    #[test]
    fn bf16_is_rounded_to_nearest_even(pairs in prop::collection::vec((any::<u16>(), any::<u16>()), 8)) {
        let to_f64 = |bits: u16| bf16::from_bits(bits).to_f64();
        let exponent = |bits: u16| i32::from(bits >> 7 & 0xff);
        let exact = |op: &str, a: u16, b: u16| op == "f_mul" || (exponent(a) - exponent(b)).abs() < 40;
        check_rounding("bf16", &pairs, to_f64, 0x7f80, exact)?;
    }

    /// Products near the minimum `bf16`, where `f32` loses precision too.
    #[test]
    fn subnormal_products_of_bf16_are_rounded_to_nearest_even(
        pairs in prop::collection::vec((0x1e00u16..0x2100, 0x1e00u16..0x2100), 8)
    ) {
        check_rounding("bf16", &pairs, |bits| bf16::from_bits(bits).to_f64(), 0x7f80, |op, _, _| op == "f_mul")?;
    }

    #[test]
    fn f32_and_f64_are_the_hosts(pairs in prop::collection::vec((any::<u64>(), any::<u64>()), 8)) {
        let single = |bits: u64| f32::from_bits(bits as u32);
        let narrow: Vec<_> = pairs.iter().map(|&(a, b)| (a & 0xffff_ffff, b & 0xffff_ffff)).collect();
        for (&(a, b), result) in narrow.iter().zip(binary("f32", 4, "f_sub", &narrow)) {
            let expected = single(a) - single(b);
            prop_assert!(single(result).to_bits() == expected.to_bits() || expected.is_nan() && single(result).is_nan());
        }
        for (&(a, b), result) in pairs.iter().zip(binary("f64", 8, "f_mul", &pairs)) {
            let expected = f64::from_bits(a) * f64::from_bits(b);
            let result = f64::from_bits(result);
            prop_assert!(result.to_bits() == expected.to_bits() || expected.is_nan() && result.is_nan());
        }
    }
}

fn check_rounding(
    ty: &str,
    pairs: &[(u16, u16)],
    to_f64: impl Fn(u16) -> f64 + Copy,
    infinity: u16,
    is_exact: impl Fn(&str, u16, u16) -> bool,
) -> Result<(), TestCaseError> {
    let wide: Vec<_> = pairs.iter().map(|&(a, b)| (u64::from(a), u64::from(b))).collect();
    for op in ["f_add", "f_sub", "f_mul"] {
        for (&(a, b), result) in pairs.iter().zip(binary(ty, 2, op, &wide)) {
            let (x, y) = (to_f64(a), to_f64(b));
            let exact = match op {
                "f_add" => x + y,
                "f_sub" => x - y,
                _ => x * y,
            };
            if exact.is_nan() {
                prop_assert!(to_f64(result as u16).is_nan(), "{} {} {:#x} {:#x}", ty, op, a, b);
            } else if is_exact(op, a, b) {
                let expected = nearest(exact, to_f64, infinity);
                prop_assert_eq!(result as u16, expected, "{} {} {:#x} {:#x}", ty, op, a, b);
            }
        }
    }
    Ok(())
}

/// The results of a kernel of 8 lanes whose lanes each store one word, `%20`.
fn one_word_each(body: &str) -> Vec<u32> {
    let text = format!(
        "kernel tested(%0 to: ptr.global) lanes 8 warps 1 {{
           %1: i32 = special lane
           %2: i32 = constant 0
           %3: i32 = constant 1
           %4: i32 = constant 4
           {body}
           %21: i32 = binary mul %1, %4
           %22: ptr.global = ptr_add %0, %21
           store %22, %20 align 4
         }}"
    );
    let bytes = written(&text, 32);
    bytes.chunks_exact(4).map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]])).collect()
}

#[test]
fn a_shuffle_gives_the_value_of_the_named_lane() {
    let reversed = "%5: i32 = constant 7\n %6: i32 = binary sub %5, %1\n %7: i32 = binary mul %1, %1
        %20: i32 = shuffle index all %7, %6";
    assert_eq!(one_word_each(reversed), [49, 36, 25, 16, 9, 4, 1, 0]);
}

#[test]
fn a_shuffle_xor_gives_the_value_of_the_lane_across() {
    for (mask, expected) in
        [(1, [1, 0, 9, 4, 25, 16, 49, 36]), (3, [9, 4, 1, 0, 49, 36, 25, 16]), (6, [36, 49, 16, 25, 4, 9, 0, 1])]
    {
        let text = format!("%7: i32 = binary mul %1, %1\n %20: i32 = shuffle_xor {mask} all %7");
        assert_eq!(one_word_each(&text), expected, "{mask}");
    }
}

#[test]
fn lanes_diverge_at_an_if_and_reconverge_after_it() {
    let text = "%5: i1 = compare lt_u %1, %4
        %20: i32 = if %5 {
          %6: i1 = compare eq %1, %2
          %7: i32 = if %6 {
            yield %4
          } else {
            yield %3
          }
          yield %7
        } else {
          yield %1
        }";
    assert_eq!(one_word_each(text), [4, 1, 1, 1, 4, 5, 6, 7]);
}

#[test]
fn lanes_may_differ_in_iteration_counts() {
    // Sum of the indices below the lane.
    let text = "%20: i32 = for %2 to %1 step %3 carry %2 (%5: i32, %6: i32) {
          %7: i32 = binary add %6, %5
          yield %7
        }";
    assert_eq!(one_word_each(text), [0, 0, 1, 3, 6, 10, 15, 21]);
}

#[test]
fn carried_values_are_assigned_in_parallel() {
    // Fibonacci numbers: (a, b) becomes (b, a + b); then (b, a) by swapping alone.
    let text = "%5: i32, %20: i32 = for %2 to %1 step %3 carry %2, %3 (%6: i32, %7: i32, %8: i32) {
          %9: i32 = binary add %7, %8
          yield %8, %9
        }";
    assert_eq!(one_word_each(text), [1, 1, 2, 3, 5, 8, 13, 21]);
    let swap = "%5: i32, %20: i32 = for %2 to %1 step %3 carry %2, %3 (%6: i32, %7: i32, %8: i32) {
          yield %8, %7
        }";
    assert_eq!(one_word_each(swap), [1, 0, 1, 0, 1, 0, 1, 0]);
}

#[test]
fn loops_inside_loops_start_anew() {
    // Counts pairs (i, j) with j < i < lane, with an outer step of two.
    let text = "%5: i32 = constant 2
        %20: i32 = for %2 to %1 step %5 carry %2 (%6: i32, %7: i32) {
          %8: i32 = for %2 to %6 step %3 carry %7 (%9: i32, %10: i32) {
            %11: i32 = binary add %10, %3
            yield %11
          }
          yield %8
        }";
    assert_eq!(one_word_each(text), [0, 0, 0, 2, 2, 6, 6, 12]);
}

#[test]
fn special_registers_say_which_lane_warp_and_block() {
    let text = "kernel tested(%0 to: ptr.global) lanes 4 warps 3 {
        %1: i32 = special lane
        %2: i32 = special warp
        %3: i32 = special program 0
        %4: i32 = special program 1
        %5: i32 = special program 2
        %6: i32 = constant 16
        %7: i32 = binary mul %5, %6
        %8: i32 = binary add %7, %4
        %9: i32 = binary mul %8, %6
        %10: i32 = binary add %9, %3
        %11: i32 = binary mul %10, %6
        %12: i32 = binary add %11, %2
        %13: i32 = binary mul %12, %6
        %14: i32 = binary add %13, %1
        %15: i32 = constant 2
        %16: i32 = constant 3
        %17: i32 = constant 5
        %18: i32 = binary mul %5, %16
        %19: i32 = binary add %18, %4
        %20: i32 = binary mul %19, %15
        %21: i32 = binary add %20, %3
        %22: i32 = binary mul %21, %16
        %23: i32 = binary add %22, %2
        %24: i32 = constant 4
        %25: i32 = binary mul %23, %24
        %26: i32 = binary add %25, %1
        %27: i32 = binary mul %26, %24
        %28: ptr.global = ptr_add %0, %27
        store %28, %14 align 4
      }";
    let grid = [2, 3, 5];
    let mut memory = GlobalMemory::new();
    let buffer = memory.allocate(4 * 4 * 3 * 30);
    let done =
        run_kernel(&kernel(text), &target(true), grid, &[Argument::Buffer(buffer)], &mut memory, &RunLimits::default());
    done.unwrap_or_else(|fault| panic!("{fault}"));
    let mut expected = Vec::new();
    for (z, y, x) in (0..5u32).flat_map(|z| (0..3u32).flat_map(move |y| (0..2u32).map(move |x| (z, y, x)))) {
        for (warp, lane) in (0..3u32).flat_map(|warp| (0..4u32).map(move |lane| (warp, lane))) {
            expected.extend(((((z * 16 + y) * 16 + x) * 16 + warp) * 16 + lane).to_le_bytes());
        }
    }
    assert_eq!(memory.read_all(buffer).expect("every lane writes"), expected);
}

#[test]
fn loads_with_a_false_predicate_give_zero() {
    let text = "%5: i1 = constant 0\n %20: i32 = load %0 align 4 if %5";
    assert_eq!(one_word_each(text), [0; 8]);
}

/// Checks that an unspecified number is a NaN, so that results that depend on it are seen to be wrong.
#[test]
fn unspecified_floats_are_nan() {
    let text = "%5: f32 = unspecified\n %20: i32 = cast bits %5";
    assert!(one_word_each(text).iter().all(|&bits| f32::from_bits(bits).is_nan()));
    let text = "%5: 2xbf16 = unspecified\n %20: i32 = cast bits %5";
    let upper_words = one_word_each(text).into_iter().map(|bits| f32::from_bits(bits & 0xffff_0000));
    assert!(upper_words.into_iter().all(f32::is_nan));
}

#[test]
fn the_host_reads_only_what_was_written() {
    use tilewright_emulator::HostAccessError;
    let mut memory = GlobalMemory::new();
    let buffer = memory.allocate(8);
    memory.write(buffer, 2, &[7; 3]).expect("it fits");
    assert_eq!(memory.read(buffer, 2, 3), Ok(&[7, 7, 7][..]));
    assert_eq!(memory.read(buffer, 2, 4), Err(HostAccessError::Uninitialised { offset: 5 }));
    assert_eq!(memory.read_all(buffer), Err(HostAccessError::Uninitialised { offset: 0 }));
    assert_eq!(memory.write(buffer, 6, &[0; 3]), Err(HostAccessError::OutOfBounds { offset: 6, bytes: 3, size: 8 }));
    assert!(memory.read(buffer, usize::MAX, 2).is_err());
    assert_eq!(GlobalMemory::new().read(buffer, 0, 1), Err(HostAccessError::UnknownBuffer));
}

/// The results of `a * b + a` for each pair, from a kernel on the emulator.
fn multiplied_and_added(ty: &str, bytes: usize, pairs: &[(u64, u64)]) -> Vec<u64> {
    apply((ty, bytes), (ty, bytes), &format!("%8: {ty} = fma %5, %6, %5"), pairs)
}

/// The value of a finite `f16` in units of 2^-24.
fn units_of_f16(bits: u64) -> i128 {
    (f16::from_bits(bits as u16).to_f64() * 2f64.powi(24)) as i128
}

#[test]
fn multiply_adds_are_rounded_once() {
    let squared = |power: i32| (1.0 + 2f64.powi(power), -(1.0 + 2f64.powi(power)));
    // a (1 - a) with b = -a: of (1 + e)(-1 - e) + (1 + e) = -(e + e^2) the last term is kept.
    let (a, b) = squared(-12);
    let single = multiplied_and_added("f32", 4, &[((a as f32).to_bits().into(), (b as f32).to_bits().into())]);
    assert_eq!(f32::from_bits(single[0] as u32), -(2f32.powi(-12) + 2f32.powi(-24)));
    let (a, b) = squared(-27);
    let double = multiplied_and_added("f64", 8, &[(a.to_bits(), b.to_bits())]);
    assert_eq!(f64::from_bits(double[0]), -(2f64.powi(-27) + 2f64.powi(-54)));
    // All pairs of `f16` exponents, compared with integers: a * b + a in units of 2^-48.
    let sample = |seed: u64| (0..4096u64).map(move |index| (index * 15 + seed * 7919) % 0x10000);
    let finite = |bits: &u64| bits >> 10 & 31 != 31;
    let pairs: Vec<_> = sample(1).zip(sample(2).map(|bits| bits.rotate_left(7) & 0xffff | bits >> 9 & 0x7f)).collect();
    let pairs: Vec<_> = pairs.into_iter().filter(|(a, b)| finite(a) && finite(&(b & 0xffff))).collect();
    assert!(pairs.len() > 3000);
    for (&(a, b), result) in pairs.iter().zip(multiplied_and_added("f16", 2, &pairs)) {
        let exact = units_of_f16(a) * units_of_f16(b) + (units_of_f16(a) << 24);
        let far = |bits: u64| (exact - (units_of_f16(bits) << 24)).abs();
        let magnitude = result & 0x7fff;
        if magnitude == 0x7c00 {
            // Half an ulp above the greatest value rounds to infinity.
            assert!(exact.abs() >= 65520i128 << 48, "{a:#x} {b:#x}");
            continue;
        }
        let neighbours = [magnitude.saturating_sub(1), magnitude + 1].map(|next| next | result & 0x8000);
        for next in neighbours.into_iter().filter(|next| finite(next)) {
            let tie = far(next) == far(result) && next != result;
            assert!(far(result) <= far(next) && (!tie || result & 1 == 0), "{a:#x} {b:#x}: {result:#x}");
        }
    }
}
