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

/// A dot whose operands and accumulator are one value.
const ONE_VALUE: &str = "tt.func @dot(%x: tensor<16x16xf16>) -> tensor<16x16xf16> {
  %d = tt.dot %x, %x, %x, inputPrecision = tf32 : tensor<16x16xf16> * tensor<16x16xf16> -> tensor<16x16xf16>
  tt.return %d : tensor<16x16xf16>
}";

/// Returns the lines of a program for a target whose MMA instructions accumulate in these types.
fn widened_for(program: &str, accumulators: &[FloatType]) -> Vec<String> {
    let module = parse_module(program, &Dialects::neutral()).expect("a program");
    let has_mma = |operand: FloatType, wide: FloatType| operand == FloatType::F16 && accumulators.contains(&wide);
    let widened = widen_accumulators(&module, &Dialects::neutral(), &has_mma).expect("a program");
    verify_transformed_module(&widened).expect("a program without violations");
    print_module(&widened).lines().map(|line| line.trim().to_owned()).collect()
}

#[test]
fn accumulators_are_wide_if_no_instruction_has_narrow_ones() {
    let lines = widened_for(DOT, &[FloatType::F32]);
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
        let lines = widened_for(DOT, accumulators);
        assert!(!lines.iter().any(|line| line.contains("arith.")), "{lines:?}");
    }
}

#[test]
fn operands_that_are_the_accumulator_stay_narrow() {
    let lines = widened_for(ONE_VALUE, &[FloatType::F32]);
    let dot = lines.iter().find(|line| line.contains("tt.dot")).expect("a dot");
    assert!(dot.contains("tt.dot %x, %x, ") && !dot.contains("%x, %x, %x"), "{dot}");
    assert!(dot.ends_with("tensor<16x16xf16> * tensor<16x16xf16> -> tensor<16x16xf32>"), "{dot}");
}

/// Checks an MMA of explicit memory, whose accumulator a loop carries.
#[test]
fn explicit_mmas_are_widened() {
    let program =
        "tt.func @mma(%a: tensor<16x32xf16>, %b: tensor<32x16xf16>, %c: tensor<16x16xf16>) -> tensor<16x16xf16> {
  %d = tw.mma %a, %b, %c : tensor<16x32xf16> * tensor<32x16xf16> -> tensor<16x16xf16>
  tt.return %d : tensor<16x16xf16>
}";
    let lines = widened_for(program, &[FloatType::F32]);
    let mma = lines.iter().find(|line| line.contains("tw.mma")).expect("an MMA");
    assert!(mma.ends_with("tensor<16x32xf16> * tensor<32x16xf16> -> tensor<16x16xf32>"), "{mma}");
    assert!(lines.iter().any(|line| line.contains("arith.truncf")), "{lines:?}");
}
