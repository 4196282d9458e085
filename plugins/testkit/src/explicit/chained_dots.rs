//! Two chained dots of a plain program, whose second operands a loop loads: attention without the softmax.

use super::case_data::{build_case, input, output};
use super::paper_kernels::{multiply, others, quarters};
use tilewright_verify::case::ProgramCase;

const ROWS: usize = 128;
const KEYS: usize = 128;
const WIDTH: usize = 64;
const ITERATIONS: usize = 4;

/// Returns the program `o = (q k^T) v` with its case: `q` has 128 rows of 64 elements, an iteration takes 128 rows of
/// `k` and `v`.
pub fn chained_dots_program() -> (ProgramCase, String) {
    let all_keys = KEYS * ITERATIONS;
    // `f16` has the scores exactly: multiples of 1/16 below 128.
    let scores = multiply([ROWS, all_keys, WIDTH], quarters, |width, key| others(key, width));
    assert!(scores.iter().all(|score| score.abs() < 128.0 && (score * 16.0).fract() == 0.0));
    let accumulated = multiply([ROWS, WIDTH, all_keys], |row, key| scores[row * all_keys + key], quarters);
    let arguments = vec![
        ("q", input("f16", [ROWS, WIDTH], quarters)),
        ("k", input("f16", [all_keys, WIDTH], others)),
        ("v", input("f16", [all_keys, WIDTH], quarters)),
        ("o", output("f32", [ROWS, WIDTH], accumulated, [1.0 / 1024.0, 1.0 / 64.0])),
    ];
    let case = ProgramCase { stages: Some(3), ..build_case("chained", [1, 1], 4, arguments) };
    (case, include_str!("chained_dots.ttir").to_owned())
}
