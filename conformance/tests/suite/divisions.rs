//! Divisions of 64-bit integers whose operands fit in 32 bits: right for all signs, and in 32 bits where no quotient
//! overflows.

use tilewright::run::KernelArgument;
use tilewright_kernel::{Binary, Element, Op, Type};

use crate::programs::{compile, run};
use crate::served::targets;

/// A division by its name, and its quotient or remainder by 64-bit arithmetic.
type Division = (&'static str, fn(i64, i64) -> i64);

const DIVISIONS: [Division; 7] = [
    ("divsi", |a, b| a / b),
    ("remsi", |a, b| a % b),
    ("ceildivsi", |a, b| a / b + i64::from(a % b != 0 && (a < 0) == (b < 0))),
    ("floordivsi", |a, b| a.div_euclid(b) - i64::from(b < 0 && a.rem_euclid(b) != 0)),
    ("divui", |a, b| (a as u64 / b as u64) as i64),
    ("remui", |a, b| (a as u64 % b as u64) as i64),
    ("ceildivui", |a, b| (a as u64).div_ceil(b as u64) as i64),
];

/// How 32-bit words become the operands: the operations on dividend and divisor, and the same by 64-bit arithmetic.
struct Operands {
    of: [&'static str; 2],
    widen: [fn(u32) -> i64; 2],
    /// Whether all signed, and all unsigned, divisions fit in 32 bits.
    fits: [bool; 2],
}

const SIGNED: fn(u32) -> i64 = |word| i64::from(word.cast_signed());
const UNSIGNED: fn(u32) -> i64 = |word| i64::from(word);
const HALF: fn(u32) -> i64 = |word| i64::from(word >> 1);

const OPERANDS: [Operands; 4] = [
    // The least integer divided by -1 does not fit.
    Operands { of: ["extsi", "extsi"], widen: [SIGNED, SIGNED], fits: [false, false] },
    Operands { of: ["half", "extsi"], widen: [HALF, SIGNED], fits: [true, false] },
    Operands { of: ["extui", "extui"], widen: [UNSIGNED, UNSIGNED], fits: [true, true] },
    Operands { of: ["half", "extui"], widen: [HALF, UNSIGNED], fits: [true, true] },
];

fn program(division: &str, of: [&str; 2]) -> String {
    let operand = |name: &str, how: &str| match how {
        "half" => format!(
            "%{name}_half = arith.shrui %{name}_word, %one : tensor<64xi32>
             %{name} = arith.extui %{name}_half : tensor<64xi32> to tensor<64xi64>"
        ),
        how => format!("%{name} = arith.{how} %{name}_word : tensor<64xi32> to tensor<64xi64>"),
    };
    let load = |name: &str| {
        format!(
            "%{name}_base = tt.splat %{name}_in : !tt.ptr<i32> -> tensor<64x!tt.ptr<i32>>
             %{name}_at = tt.addptr %{name}_base, %i : tensor<64x!tt.ptr<i32>>, tensor<64xi32>
             %{name}_word = tt.load %{name}_at : tensor<64x!tt.ptr<i32>>"
        )
    };
    format!(
        "tt.func @divides(%a_in: !tt.ptr<i32>, %b_in: !tt.ptr<i32>, %out: !tt.ptr<i64>) {{
           %one = arith.constant dense<1> : tensor<64xi32>
           %i = tt.make_range {{start = 0 : i32, end = 64 : i32}} : tensor<64xi32>
           {}
           {}
           {}
           {}
           %result = arith.{division} %a, %b : tensor<64xi64>
           %to = tt.splat %out : !tt.ptr<i64> -> tensor<64x!tt.ptr<i64>>
           %at = tt.addptr %to, %i : tensor<64x!tt.ptr<i64>>, tensor<64xi32>
           tt.store %at, %result : tensor<64x!tt.ptr<i64>>
           tt.return
         }}",
        load("a"),
        load("b"),
        operand("a", of[0]),
        operand("b", of[1])
    )
}

#[test]
fn divisions_of_integers_that_fit_in_a_word_are_right_and_narrow() {
    let extremes = [i32::MIN, -65_537, -7, -1, 1, 6, 65_537, i32::MAX].map(i32::cast_unsigned);
    let pairs: Vec<[u32; 2]> = extremes.iter().flat_map(|&a| extremes.map(|b| [a, b])).collect();
    let words = |at: usize| pairs.iter().map(|pair| pair[at]).collect::<Vec<u32>>();
    let given = [("a_in", 0), ("b_in", 1), ("out", 2)].map(|(name, at)| (name, KernelArgument::Buffer(at)));
    for target in targets(&["h100", "mi300x", "max1550"]) {
        for (division, divide) in DIVISIONS {
            for operands in &OPERANDS {
                let text = program(division, operands.of);
                // A divisor of zero is left out, as is every other quotient that does not exist.
                let exact = pairs.iter().map(|&[a, b]| divide((operands.widen[0])(a), (operands.widen[1])(b)));
                let expected: Vec<u32> = exact.flat_map(|exact| [exact as u32, (exact >> 32) as u32]).collect();
                let place = format!("{division} of {:?} on {}", operands.of, target.description().name);
                let ran = run(&*target, &text, &given, &[words(0), words(1), vec![0; 128]]);
                assert_eq!(ran.words[2], expected, "{place}");

                let divides_wide = compile(&*target, &text).statements().iter().any(|statement| {
                    let is_division = matches!(
                        statement.op,
                        Op::Binary { op: Binary::DivS | Binary::DivU | Binary::RemS | Binary::RemU, .. }
                    );
                    is_division && statement.results.iter().any(|&(_, ty)| ty == Type::Scalar(Element::I64))
                });
                let fits = operands.fits[usize::from(division.ends_with("ui"))];
                assert_eq!(divides_wide, !fits, "{place}");
            }
        }
    }
}
