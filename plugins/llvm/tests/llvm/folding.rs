//! Semantics of operations, evaluated by LLVM's constant folding: a kernel applies an operation to constants and stores
//! the result. The optimized LLVM IR stores a number, which must match the kernel IR's definition.
#![allow(clippy::unwrap_used)]

use crate::dialect;
use tilewright_llvm::LlvmOutputKind;
use tilewright_vendor_testkit::kernels;
use tilewright_vendor_testkit::kernels::{BIT, GLOBAL_POINTER, QUAD, WORD, module};
use tilewright_vendor_testkit::prelude::*;

const LAUNCH: StaticLaunchConfig = StaticLaunchConfig::new(32, 1);

/// Returns the bits of the value that `make` emits, as the kernel stores them: as many low bits as its type has.
fn stored(make: impl Fn(&mut Builder) -> Value) -> u64 {
    let mut k = Builder::new("fold", LAUNCH, &[("to", GLOBAL_POINTER)]);
    let value = make(&mut k);
    let width = k.type_of(value).bits();
    // As an integer of one element, so that the text has one form.
    let bits = k.cast(Cast::Bits, value, Type::Scalar(Element::integer_of_width(width).unwrap()));
    let to = k.parameter(0);
    k.store(to, 0, bits, None);
    let code = dialect::code(&module(vec![k.finish()]), 2, &[LlvmOutputKind::Intermediate]).unwrap();
    let text = code.intermediate.unwrap();
    let store = text.lines().find(|line| line.trim_start().starts_with("store ")).unwrap_or_else(|| panic!("{text}"));
    let literal = store.split_whitespace().nth(2).unwrap().trim_end_matches(',');
    let number: i64 = literal.parse().unwrap_or_else(|_| panic!("not folded: {store}"));
    number.cast_unsigned() & (u64::MAX >> (64 - width.max(8)))
}

fn mask(bits: u32) -> u64 {
    u64::MAX >> (64 - bits)
}

fn signed(value: u64, bits: u32) -> i64 {
    (value << (64 - bits)).cast_signed() >> (64 - bits)
}

/// Returns the result that the kernel IR defines; `None` if the kernel IR leaves it unspecified.
fn meaning(op: Binary, a: u64, b: u64, bits: u32) -> Option<u64> {
    let (wide_a, wide_b) = (u128::from(a), u128::from(b));
    let modulus = 1u128 << bits;
    let value = match op {
        Binary::Add => (wide_a + wide_b) % modulus,
        Binary::Sub => (wide_a + modulus - wide_b) % modulus,
        Binary::Mul => (wide_a * wide_b) % modulus,
        Binary::And => wide_a & wide_b,
        Binary::Or => wide_a | wide_b,
        Binary::Xor => wide_a ^ wide_b,
        Binary::Shl | Binary::ShrU | Binary::ShrS if b >= u64::from(bits) => return None,
        Binary::Shl => (wide_a << b) % modulus,
        Binary::ShrU => wide_a >> b,
        Binary::ShrS => u128::from((signed(a, bits) >> b).cast_unsigned() & mask(bits)),
        Binary::DivU | Binary::RemU if b == 0 => return None,
        Binary::DivU => wide_a / wide_b,
        Binary::RemU => wide_a % wide_b,
        Binary::DivS | Binary::RemS if b == 0 || (signed(a, bits) == i64::MIN >> (64 - bits) && b == mask(bits)) => {
            return None;
        }
        Binary::DivS => u128::from((signed(a, bits) / signed(b, bits)).cast_unsigned() & mask(bits)),
        Binary::RemS => u128::from((signed(a, bits) % signed(b, bits)).cast_unsigned() & mask(bits)),
        Binary::MulHighU => (wide_a * wide_b) >> bits,
        Binary::MulHighS => {
            let product = i128::from(signed(a, bits)) * i128::from(signed(b, bits));
            (product >> bits).cast_unsigned() % modulus
        }
        _ => unreachable!("integers only"),
    };
    Some(u64::try_from(value).unwrap())
}

#[test]
fn integer_operations_fold_by_their_semantics() {
    for element in [Element::I8, Element::I16, Element::I32, Element::I64] {
        let bits = element.bits();
        let samples = [0, 1, 3, u64::from(bits) - 1, 1 << (bits - 1), mask(bits), 0xA5A5_5A5A_C3C3_3C3C & mask(bits)];
        let others = [Binary::DivS, Binary::RemS, Binary::MulHighU, Binary::MulHighS];
        for op in kernels::INTEGER_OPERATIONS.into_iter().chain(others) {
            for (a, b) in samples.iter().flat_map(|&a| samples.map(|b| (a, b))) {
                let ty = Type::Scalar(element);
                let found = stored(|k| {
                    let (a, b) = (k.constant(ty, a), k.constant(ty, b));
                    k.binary(op, a, b)
                });
                // If the definition leaves the result open, `stored` has shown that there is some value.
                if let Some(expected) = meaning(op, a, b, bits) {
                    assert_eq!(found, expected, "{op:?} {a:#x} {b:#x} of {bits} bits");
                }
            }
        }
    }
}

/// Checks quotients and remainders of unsigned bytes for all constant divisors: LLVM folds a product in place of each
/// division. The dividends are those next to a multiple of the divisor, and the extremes.
#[test]
fn bytes_are_divided_by_every_constant() {
    let byte = Type::Scalar(Element::I8);
    for divisor in 1..=255u64 {
        let most = 255 / divisor * divisor;
        let dividends = [0, divisor - 1, divisor, most - 1, most, 127, 128, 255];
        for op in [Binary::DivU, Binary::RemU] {
            let found = stored(|k| {
                let parts: Vec<Value> = (dividends.iter().enumerate())
                    .map(|(at, &dividend)| {
                        let (a, b) = (k.constant(byte, dividend), k.constant(byte, divisor));
                        let divided = k.binary(op, a, b);
                        let wide = k.cast(Cast::ExtendU, divided, Type::Scalar(Element::I64));
                        let by = k.constant(Type::Scalar(Element::I64), 8 * at as u64);
                        k.binary(Binary::Shl, wide, by)
                    })
                    .collect();
                parts.into_iter().reduce(|all, part| k.binary(Binary::Or, all, part)).unwrap()
            });
            let expected = dividends.map(|dividend| meaning(op, dividend, divisor, 8).unwrap() as u8);
            assert_eq!(found.to_le_bytes(), expected, "{op:?} by {divisor}");
        }
    }
}

#[test]
fn comparisons_match_their_predicates() {
    for op in kernels::INTEGER_COMPARISONS {
        for (a, b) in [(0, 1), (1, 0), (7, 7), (0xFFFF_FFFF, 1), (1, 0xFFFF_FFFF), (0x8000_0000, 0x7FFF_FFFF)] {
            let (sa, sb) = (signed(a, 32), signed(b, 32));
            let expected = match op {
                Compare::Eq => a == b,
                Compare::Ne => a != b,
                Compare::LtU => a < b,
                Compare::LeU => a <= b,
                Compare::LtS => sa < sb,
                Compare::LeS => sa <= sb,
                _ => unreachable!("integers only"),
            };
            let found = stored(|k| {
                let (x, y) = (k.constant(WORD, a), k.constant(WORD, b));
                let holds = k.compare(op, x, y);
                let (yes, no) = (k.i32(11), k.i32(22));
                k.select(holds, yes, no)
            });
            assert_eq!(found, if expected { 11 } else { 22 }, "{op:?} {a:#x} {b:#x}");
        }
    }
}

#[test]
fn casts_keep_the_low_bits_and_fill_as_they_say() {
    let cast = |op, from, bits, to| {
        stored(|k| {
            let a = k.constant(Type::Scalar(from), bits);
            k.cast(op, a, Type::Scalar(to))
        })
    };
    assert_eq!(cast(Cast::Truncate, Element::I32, 0x1234_5678, Element::I8), 0x78);
    assert_eq!(cast(Cast::ExtendU, Element::I8, 0x80, Element::I32), 0x80);
    assert_eq!(cast(Cast::ExtendS, Element::I8, 0x80, Element::I32), 0xFFFF_FF80);
    assert_eq!(cast(Cast::ExtendS, Element::I1, 1, Element::I16), 0xFFFF);
    assert_eq!(cast(Cast::Bits, Element::F32, 0x3F80_0000, Element::I32), 0x3F80_0000);
    let single = |value: f32| u64::from(value.to_bits());
    assert_eq!(cast(Cast::FloatS, Element::I8, 0xFD, Element::F32), single(-3.0));
    assert_eq!(cast(Cast::FloatU, Element::I8, 0xFD, Element::F32), single(253.0));
    // 2^24 + 1 is between two binary32 numbers; the even one is below.
    assert_eq!(cast(Cast::FloatS, Element::I32, 0x0100_0001, Element::F32), single(16_777_216.0));
    assert_eq!(cast(Cast::FloatS, Element::I32, 0x0100_0001, Element::F64), 16_777_217f64.to_bits());
    assert_eq!(cast(Cast::ExtendF, Element::F16, 0xBE00, Element::F64), (-1.5f64).to_bits());
    assert_eq!(cast(Cast::ExtendF, Element::Bf16, 0x3FC0, Element::F32), single(1.5));
    // 1 + 2^-11 is a tie of binary16, and rounds to the even 1.
    assert_eq!(cast(Cast::RoundF, Element::F32, single(1.000_488_3), Element::F16), 0x3C00);
    assert_eq!(cast(Cast::RoundF, Element::F64, 1.000_488_4f64.to_bits(), Element::F16), 0x3C01);
}

#[test]
fn element_0_of_a_vector_is_in_its_lowest_bits() {
    let packed = stored(|k| {
        let elements: Vec<Value> = [1, 2, 3, 4].map(|bits| k.constant(Type::Scalar(Element::I16), bits)).to_vec();
        k.pack(&elements)
    });
    assert_eq!(packed, 0x0004_0003_0002_0001);
    let second = stored(|k| {
        let wide = k.constant(Type::Scalar(Element::I64), 0x1122_3344_5566_7788);
        let bytes = k.cast(Cast::Bits, wide, Type::Vector(Element::I8, 8));
        k.extract(bytes, 1)
    });
    assert_eq!(second, 0x77);
    let all = stored(|k| k.constant(Type::Vector(Element::I8, 4), 0x5A));
    assert_eq!(all, 0x5A5A_5A5A);
}

#[test]
fn floating_point_rounds_to_nearest_even() {
    // f16: 2048 + 1 lies between 2048 and 2050 and rounds to the even one; likewise bf16: 256 + 1.
    let sum = |element, a, b| {
        stored(|k| {
            let (a, b) = (k.constant(Type::Scalar(element), a), k.constant(Type::Scalar(element), b));
            k.binary(Binary::FAdd, a, b)
        })
    };
    assert_eq!(sum(Element::F16, 0x6800, 0x3C00), 0x6800);
    assert_eq!(sum(Element::F16, 0x6801, 0x3C00), 0x6802);
    assert_eq!(sum(Element::Bf16, 0x4380, 0x3F80), 0x4380);
    assert_eq!(sum(Element::F32, 1.5f32.to_bits().into(), 0.25f32.to_bits().into()), u64::from(1.75f32.to_bits()));
    let product = stored(|k| {
        let (a, b) = (
            k.constant(Type::Scalar(Element::F64), 3.0f64.to_bits()),
            k.constant(Type::Scalar(Element::F64), 0.5f64.to_bits()),
        );
        k.binary(Binary::FMul, a, b)
    });
    assert_eq!(product, 1.5f64.to_bits());
    let negative = stored(|k| {
        let a = k.constant(Type::Scalar(Element::F32), 0);
        k.value(Type::Scalar(Element::F32), Op::Unary { op: Unary::FNeg, a })
    });
    assert_eq!(negative, 0x8000_0000, "the negative of zero is negative zero");
}

/// Returns the number of iterations of a `for` loop and the sum of its indices.
fn passes(from: u32, to: u32, step: u32) -> (u64, u64) {
    let run = |sum_indices: bool| {
        stored(|k| {
            let (first, bound, stride) = (k.i32(from), k.i32(to), k.i32(step));
            let zero = k.i32(0);
            let arguments = k.begin_region(&[WORD, WORD]);
            let amount = if sum_indices { arguments[0] } else { k.i32(1) };
            let next = k.binary(Binary::Add, arguments[1], amount);
            let body = k.end_region(&[next]);
            k.for_loop(first, bound, stride, &[zero], body)[0]
        })
    };
    (run(false), run(true))
}

#[test]
fn a_loop_runs_for_the_indices_below_its_bound() {
    for (from, to, step) in
        [(0, 4, 1), (0, 10, 3), (2, 9, 4), (5, 5, 1), (6, 5, 1), (0, 1, 100), (0xFFFF_FFF0, 0xFFFF_FFFF, 8)]
    {
        let indices: Vec<u64> = (u64::from(from)..u64::from(to)).step_by(step as usize).collect();
        let expected = (indices.len() as u64, indices.iter().sum::<u64>() & 0xFFFF_FFFF);
        assert_eq!(passes(from, to, step), expected, "{from}..{to} by {step}");
    }
}

#[test]
fn a_branch_gives_what_the_taken_region_yields() {
    for (bit, expected) in [(1, 11), (0, 22)] {
        let found = stored(|k| {
            let condition = k.constant(BIT, bit);
            k.begin_region(&[]);
            let yes = k.i32(11);
            let then = k.end_region(&[yes]);
            k.begin_region(&[]);
            let no = k.i32(22);
            let otherwise = k.end_region(&[no]);
            k.if_else(condition, then, otherwise, &[WORD])[0]
        });
        assert_eq!(found, expected);
    }
}

#[test]
fn a_load_with_a_false_predicate_gives_zero() {
    let found = stored(|k| {
        let from = k.parameter(0);
        let never = k.constant(BIT, 0);
        let quad = k.load(QUAD, from, 64, Some(never));
        k.extract(quad, 2)
    });
    assert_eq!(found, 0);
}

/// Checks that a false condition masks an unspecified value: LLVM does not treat the value as poison.
#[test]
fn an_unspecified_value_can_be_masked() {
    let found = stored(|k| {
        let (unspecified, zero) = (k.unspecified(WORD), k.i32(0));
        k.binary(Binary::And, unspecified, zero)
    });
    assert_eq!(found, 0);
}

#[test]
fn bytes_are_permuted_by_the_selector() {
    let (a, b, selector) = (0x3322_1100_u32, 0x7766_5544_u32, 0x7240_u16);
    let found = stored(|k| {
        let (a, b) = (k.i32(a), k.i32(b));
        k.value(WORD, Op::PermuteBytes { a, b, selector, alternative: None })
    });
    let bytes = [a.to_le_bytes(), b.to_le_bytes()].concat();
    let expected = |selector: u16| {
        let chosen = [0, 4, 8, 12].map(|shift| bytes[usize::from(selector >> shift & 15)]);
        u64::from(u32::from_le_bytes(chosen))
    };
    assert_eq!(found, expected(selector));
    let other = 0x0635;
    for (bit, selector) in [(0, selector), (1, other)] {
        let found = stored(|k| {
            let (a, b, condition) = (k.i32(a), k.i32(b), k.constant(BIT, bit));
            k.permute_bytes_by_condition(a, b, 0x7240, (condition, other))
        });
        assert_eq!(found, expected(selector), "{bit}");
    }
}
