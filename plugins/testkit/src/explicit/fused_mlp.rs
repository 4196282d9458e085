//! Two chained dots whose tiles take turns in shared memory: `docs/examples/fused_mlp.ttir`.

use super::case_data::{Argument, build_case, input, output};
use super::paper_kernels::{multiply, others, quarters};
use super::parts::read_example;
use super::synthesize_and_emulate;
use crate::prelude::*;
use tilewright_assign::synthesis::SynthesisOptions;

const TILE: usize = 128;
const DEPTH: usize = 256;

/// Executes the program and checks its result, and that tensors which are not live together share memory: together, they
/// would not fit the shared memory of each target.
pub fn check_fused_mlp(target: &dyn Target) {
    let second = |row: usize, column: usize| others(row, column) / 4.0;
    // `f16` has these sums exactly: multiples of 1/16 below 128.
    let mut hidden = multiply([TILE, TILE, DEPTH], quarters, others);
    hidden.iter_mut().for_each(|sum| *sum = sum.max(0.0));
    assert!(hidden.iter().all(|sum| *sum < 128.0 && (sum * 16.0).fract() == 0.0));
    let product = multiply([TILE, TILE, TILE], |row, column| hidden[row * TILE + column], second);
    let arguments = vec![
        ("x", input("f16", [TILE, DEPTH], quarters)),
        ("w1", input("f16", [DEPTH, TILE], others)),
        ("w2", input("f16", [TILE, TILE], second)),
        ("y", output("f32", [TILE, TILE], product, [1.0 / 1024.0, 1.0 / 1024.0])),
        ("turns", Argument::Integer(DEPTH / 64)),
    ];
    let case = build_case("fused_mlp", [1, 1], 8, arguments);
    let solved = synthesize_and_emulate(target, &case, &read_example("fused_mlp"), SynthesisOptions::default());
    let all: u64 = solved.derivation.memories.iter().map(|memory| memory.bytes).sum();
    assert!(solved.derivation.shared_bytes < all, "{}", solved.derivation);
}
