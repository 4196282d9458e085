//! Scalar operations of whole kernels, compared with the host's arithmetic in another width or with exact integers.

use tilewright_testkit::emulator_target;

use emulator_target::apply;
use half::{bf16, f16};

/// Returns all 16-bit values, for tests of operations with one operand; each is paired with itself.
fn narrow() -> Vec<(u64, u64)> {
    (0..1 << 16).map(|bits| (bits, bits)).collect()
}

/// Returns pairs of 16-bit values: all pairs of special values (zeros, subnormals, infinities, NaN), and fixed
/// pseudo-random pairs.
fn narrow_pairs() -> Vec<(u64, u64)> {
    let special =
        [0, 0x8000, 1, 0x8001, 0x03ff, 0x0400, 0x3c00, 0xbc00, 0x3f80, 0x7bff, 0x7c00, 0xfc00, 0x7f80, 0x7e01];
    let crossed = special.into_iter().flat_map(|a| special.into_iter().map(move |b| (a, b)));
    let walk = (0u64..60_000).map(|step| {
        let mixed = step.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        (mixed >> 16 & 0xffff, mixed >> 40 & 0xffff)
    });
    crossed.chain(walk).collect()
}

fn wide_pairs(bits: u32) -> Vec<(u64, u64)> {
    let special: Vec<u64> = match bits {
        32 => {
            [0f32, -0.0, 1.5, -2.5, 0.5, f32::MAX, f32::MIN_POSITIVE, 1e-45, f32::INFINITY, f32::NEG_INFINITY, f32::NAN]
                .map(|x| u64::from(x.to_bits()))
                .to_vec()
        }
        _ => [
            0f64,
            -0.0,
            1.5,
            -2.5,
            0.5,
            f64::MAX,
            f64::MIN_POSITIVE,
            5e-324,
            f64::INFINITY,
            f64::NEG_INFINITY,
            f64::NAN,
        ]
        .map(f64::to_bits)
        .to_vec(),
    };
    let crossed: Vec<_> = special.iter().flat_map(|&a| special.iter().map(move |&b| (a, b))).collect();
    let mask = u64::MAX >> (64 - bits);
    let walk = (1u64..4000).map(|step| {
        let mixed = step.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        (mixed & mask, mixed.rotate_left(29).wrapping_mul(0xd134_2543_de82_ef95) & mask)
    });
    crossed.into_iter().chain(walk).collect()
}

/// A floating-point type, with the host's decoding and encoding of its values.
struct Float {
    name: &'static str,
    bytes: usize,
    read: fn(u64) -> f64,
    /// Encodes a value with one rounding to nearest even.
    write: fn(f64) -> u64,
}

const F16: Float = Float {
    name: "f16",
    bytes: 2,
    read: |bits| f16::from_bits(bits as u16).to_f64(),
    write: |value| u64::from(f16::from_f64(value).to_bits()),
};
const BF16: Float = Float {
    name: "bf16",
    bytes: 2,
    read: |bits| bf16::from_bits(bits as u16).to_f64(),
    write: |value| u64::from(bf16::from_f64(value).to_bits()),
};
const F32: Float = Float {
    name: "f32",
    bytes: 4,
    read: |bits| f64::from(f32::from_bits(bits as u32)),
    write: |value| u64::from((value as f32).to_bits()),
};
const F64: Float = Float { name: "f64", bytes: 8, read: f64::from_bits, write: f64::to_bits };

impl Float {
    fn pairs(&self) -> Vec<(u64, u64)> {
        if self.bytes == 2 { narrow_pairs() } else { wide_pairs(8 * self.bytes as u32) }
    }

    fn apply(&self, op: &str, pairs: &[(u64, u64)]) -> Vec<u64> {
        let ty = self.name;
        apply((ty, self.bytes), (ty, self.bytes), &format!("%8: {ty} = {op}"), pairs)
    }

    fn agree(&self, op: &str, pairs: &[(u64, u64)], expected: impl Fn(f64, f64) -> f64) {
        for (&(a, b), found) in pairs.iter().zip(self.apply(op, pairs)) {
            let expected = expected((self.read)(a), (self.read)(b));
            if expected.is_nan() {
                assert!((self.read)(found).is_nan(), "{op} {}: {a:#x} {b:#x} gives {found:#x}", self.name);
            } else {
                assert_eq!(found, (self.write)(expected), "{op} {}: {a:#x} {b:#x}", self.name);
            }
        }
    }
}

/// Binary64 of the host has more than 2p + 2 bits of all narrower types, so a second rounding of its quotient or root
/// is harmless; for binary64 the host's result is the reference.
#[test]
fn quotients_and_roots_are_rounded_once() {
    for float in [F16, BF16, F32, F64] {
        float.agree("binary f_div %5, %6", &float.pairs(), |a, b| a / b);
    }
    for float in [F16, BF16] {
        float.agree("unary f_sqrt %5", &narrow(), |a, _| a.sqrt());
    }
    for float in [F32, F64] {
        float.agree("unary f_sqrt %5", &float.pairs(), |a, _| a.sqrt());
    }
}

#[test]
fn integers_next_to_a_number_are_exact() {
    for float in [F16, BF16, F32, F64] {
        let pairs = if float.bytes == 2 { narrow() } else { float.pairs() };
        float.agree("unary f_floor %5", &pairs, |a, _| a.floor());
        float.agree("unary f_ceil %5", &pairs, |a, _| a.ceil());
        float.agree("unary f_trunc %5", &pairs, |a, _| a.trunc());
        // The nearer of the two integers around it, the even one at the midpoint.
        float.agree("unary f_nearest %5", &pairs, |a, _| {
            let (below, above) = (a.floor(), a.ceil());
            match (a - below).partial_cmp(&(above - a)) {
                Some(std::cmp::Ordering::Less) => below.copysign(a),
                Some(std::cmp::Ordering::Greater) => above.copysign(a),
                Some(std::cmp::Ordering::Equal) if below % 2.0 == 0.0 => below.copysign(a),
                Some(std::cmp::Ordering::Equal) => above.copysign(a),
                None => a,
            }
        });
        let masked = float.apply("unary f_abs %5", &pairs);
        let magnitude = u64::MAX >> (65 - 8 * float.bytes);
        assert!(pairs.iter().zip(masked).all(|(pair, found)| found == pair.0 & magnitude));
    }
}

#[test]
fn the_lesser_and_the_greater_know_zeros_and_numbers_that_are_none() {
    // Order as sign-magnitude integers: negative zero precedes positive zero.
    fn order(x: f64) -> i64 {
        let bits = x.to_bits() as i64;
        if bits < 0 { i64::MIN - bits - 1 } else { bits }
    }
    for float in [F16, BF16, F32, F64] {
        let either = |a: f64, b: f64| a.is_nan() || b.is_nan();
        let less = |a: f64, b: f64| if order(a) < order(b) { a } else { b };
        let more = |a: f64, b: f64| if order(a) < order(b) { b } else { a };
        float.agree("binary f_minimum %5, %6", &float.pairs(), |a, b| if either(a, b) { f64::NAN } else { less(a, b) });
        float.agree("binary f_maximum %5, %6", &float.pairs(), |a, b| if either(a, b) { f64::NAN } else { more(a, b) });
        let number = |a: f64, b: f64, both: f64| match (a.is_nan(), b.is_nan()) {
            (true, _) => b,
            (_, true) => a,
            _ => both,
        };
        float.agree("binary f_min_number %5, %6", &float.pairs(), |a, b| number(a, b, less(a, b)));
        float.agree("binary f_max_number %5, %6", &float.pairs(), |a, b| number(a, b, more(a, b)));
    }
}

#[test]
fn comparisons_are_false_of_numbers_that_are_none() {
    for float in [F16, BF16, F32, F64] {
        let pairs = float.pairs();
        for (op, holds) in [
            ("f_eq", (|a, b| a == b) as fn(f64, f64) -> bool),
            ("f_lt", |a, b| a < b),
            ("f_le", |a, b| a <= b),
            ("f_unordered", |a, b| a.is_nan() || b.is_nan()),
        ] {
            let statement = format!("%9: i1 = compare {op} %5, %6 %8: i32 = cast extend_u %9");
            let found = apply((float.name, float.bytes), ("i32", 4), &statement, &pairs);
            for (&(a, b), found) in pairs.iter().zip(found) {
                let expected = holds((float.read)(a), (float.read)(b));
                assert_eq!(found, u64::from(expected), "{op} {} {a:#x} {b:#x}", float.name);
            }
        }
    }
}

/// Truncation of values in range; other values have no specified result.
#[test]
fn numbers_become_integers_towards_zero() {
    for float in [F16, BF16, F32, F64] {
        let pairs = if float.bytes == 2 { narrow() } else { float.pairs() };
        for (integer, bytes) in [("i8", 1), ("i16", 2), ("i32", 4), ("i64", 8)] {
            let bits = 8 * bytes as u32;
            for (op, signed) in [("int_s", true), ("int_u", false)] {
                let statement = format!("%8: {integer} = cast {op} %5");
                let found = apply((float.name, float.bytes), (integer, bytes), &statement, &pairs);
                let (least, most) =
                    if signed { (-(1i128 << (bits - 1)), 1i128 << (bits - 1)) } else { (0, 1i128 << bits) };
                for (&(a, _), found) in pairs.iter().zip(found) {
                    let value = (float.read)(a);
                    // The host's conversion saturates to a value outside of all ranges.
                    let truncated = value as i128;
                    if !value.is_nan() && (least..most).contains(&truncated) {
                        let expected = truncated as u64 & u64::MAX >> (64 - bits);
                        assert_eq!(found, expected, "{op} {} {a:#x} to {integer}", float.name);
                    }
                }
            }
        }
    }
}

fn integers(bits: u32) -> Vec<(u64, u64)> {
    if bits == 8 {
        return (0..256).flat_map(|a| (0..256).map(move |b| (a, b))).collect();
    }
    let mask = u64::MAX >> (64 - bits);
    let special = [0, 1, 2, 3, 7, mask, mask - 1, mask >> 1, (mask >> 1) + 1, 0x1234_5678_9abc_def0 & mask];
    let crossed = special.into_iter().flat_map(|a| special.into_iter().map(move |b| (a, b)));
    let walk = (1u64..2000).map(|step| {
        let mixed = step.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        (mixed & mask, mixed.rotate_left(29) >> (step % 50) & mask)
    });
    crossed.chain(walk).collect()
}

#[test]
fn integers_divide_multiply_and_count() {
    for (ty, bytes) in [("i8", 1), ("i16", 2), ("i32", 4), ("i64", 8)] {
        let bits = 8 * bytes as u32;
        let mask = u64::MAX >> (64 - bits);
        let wide = |x: u64| i128::from(x as i64) << (128 - bits) >> (128 - bits);
        let pairs = integers(bits);
        let of = |op: &str| apply((ty, bytes), (ty, bytes), &format!("%8: {ty} = {op}"), &pairs);
        let agree = |op: &str, expected: &dyn Fn(u64, u64) -> Option<i128>| {
            for (&(a, b), found) in pairs.iter().zip(of(op)) {
                if let Some(expected) = expected(a, b) {
                    assert_eq!(found, expected as u64 & mask, "{op} {ty} {a:#x} {b:#x}");
                }
            }
        };
        let fits = |quotient: i128| quotient == wide(quotient as u64 & mask);
        agree("binary div_s %5, %6", &|a, b| wide(a).checked_div(wide(b)).filter(|&quotient| fits(quotient)));
        agree("binary rem_s %5, %6", &|a, b| {
            wide(a).checked_div(wide(b)).filter(|&quotient| fits(quotient)).map(|_| wide(a) % wide(b))
        });
        agree("binary mul_high_u %5, %6", &|a, b| Some(((u128::from(a) * u128::from(b)) >> bits) as i128));
        agree("binary mul_high_s %5, %6", &|a, b| Some((wide(a) * wide(b)) >> bits));
        agree("unary pop_count %5", &|a, _| Some((0..bits).filter(|bit| a >> bit & 1 == 1).count() as i128));
        agree("unary leading_zeros %5", &|a, _| {
            Some((0..bits).rev().take_while(|bit| a >> bit & 1 == 0).count() as i128)
        });
    }
}

/// The emulator evaluates hardware functions with the nearest result.
#[test]
fn functions_are_the_hosts_rounded_once() {
    for (function, operands, expected) in [
        ("exp2", "%5", (|a, _| a.exp2()) as fn(f64, f64) -> f64),
        ("log2", "%5", |a, _| a.log2()),
        ("rsqrt", "%5", |a, _| 1.0 / a.sqrt()),
        ("tanh", "%5", |a, _| a.tanh()),
        ("pow", "%5, %6", f64::powf),
        ("atan2", "%5, %6", f64::atan2),
        ("fmod", "%5, %6", |a, b| a % b),
    ] {
        for float in [F32, F64] {
            float.agree(&format!("math {function} {operands}"), &float.pairs(), expected);
        }
    }
}
