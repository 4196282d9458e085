//! Dots whose accumulator no MMA instruction of the target has.

use tilewright_tile::op::Dialects;
use tilewright_tile::text::{parse_module, print_module};
use tilewright_tile::transform::widen_accumulators;
use tilewright_tile::{FloatType, verify_transformed_module};

const DOT: &str =
    "tt.func @dot(%a: tensor<16x32xf16>, %b: tensor<32x16xf16>, %c: tensor<16x16xf16>) -> tensor<16x16xf16> {
  %d = tt.dot %a, %b, %c, inputPrecision = tf32 : tensor<16x32xf16> * tensor<32x16xf16> -> tensor<16x16xf16>
  tt.return %d : tensor<16x16xf16>
}";

/// Returns the lines of the dot's program for a target whose MMA instructions accumulate in these types.
fn widened_for(accumulators: &[FloatType]) -> Vec<String> {
    let module = parse_module(DOT, &Dialects::neutral()).expect("a program");
    let has_mma = |operand: FloatType, wide: FloatType| operand == FloatType::F16 && accumulators.contains(&wide);
    let widened = widen_accumulators(&module, &Dialects::neutral(), &has_mma).expect("a program");
    verify_transformed_module(&widened).expect("a program without violations");
    print_module(&widened).lines().map(|line| line.trim().to_owned()).collect()
}

#[test]
fn accumulators_are_wide_if_no_instruction_has_narrow_ones() {
    let lines = widened_for(&[FloatType::F32]);
    let with = |text: &str| lines.iter().filter(|line| line.contains(text)).collect::<Vec<_>>();
    let ([extended], [dot], [rounded]) = (&with("arith.extf")[..], &with("tt.dot")[..], &with("arith.truncf")[..])
    else {
        panic!("{lines:?}")
    };
    assert!(extended.contains("arith.extf %c : tensor<16x16xf16> to tensor<16x16xf32>"), "{extended}");
    let types = "tensor<16x32xf16> * tensor<32x16xf16> -> tensor<16x16xf32>";
    assert!(dot.contains("inputPrecision = tf32") && dot.ends_with(types), "{dot}");
    assert!(rounded.ends_with(": tensor<16x16xf32> to tensor<16x16xf16>"), "{rounded}");
}

/// Checks that a target with an instruction that accumulates in `f16`, and one without any instruction, keep the dot.
#[test]
fn other_accumulators_stay() {
    for accumulators in [&[FloatType::F16, FloatType::F32][..], &[]] {
        let lines = widened_for(accumulators);
        assert!(!lines.iter().any(|line| line.contains("arith.")), "{lines:?}");
    }
}
