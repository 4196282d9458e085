//! Dots in `f32` whose precision is a sum of dots in a narrower type.

use tilewright_tile::op::Dialects;
use tilewright_tile::text::{parse_module, print_module};
use tilewright_tile::transform::split_dots;
use tilewright_tile::{FloatType, verify_transformed_module};

/// Returns the dots of a program with one dot of this precision, as `A B C precision type`, split for a target that
/// computes up to `most` dots of type `narrow` in less time than one in `f32`.
fn dots(precision: &str, narrow: FloatType, most: usize) -> Vec<String> {
    let program = format!(
        "tt.func @dot(%a: tensor<16x32xf32>, %b: tensor<32x16xf32>, %c: tensor<16x16xf32>) -> tensor<16x16xf32> {{
  %d = tt.dot %a, %b, %c, inputPrecision = {precision} : tensor<16x32xf32> * tensor<32x16xf32> -> tensor<16x16xf32>
  tt.return %d : tensor<16x16xf32>
}}"
    );
    let module = parse_module(&program, &Dialects::neutral()).expect("a program");
    let is_faster = |operand: FloatType, dots: usize| operand == narrow && dots <= most;
    let split = split_dots(&module, &Dialects::neutral(), &is_faster).expect("a program");
    verify_transformed_module(&split).expect("a program without violations");
    let text = print_module(&split);
    text.lines().filter(|line| line.contains("tt.dot")).map(|line| line.trim().to_owned()).collect()
}

/// Checks the number of dots, and that the last one multiplies the first parts, which are made of the operands.
#[test]
fn a_precision_is_a_sum_of_dots() {
    for (precision, narrow, count, element) in [
        ("tf32x3", FloatType::Tf32, 3, "f32"),
        ("bf16x3", FloatType::Bf16, 3, "bf16"),
        ("bf16x6", FloatType::Bf16, 6, "bf16"),
    ] {
        let dots = dots(precision, narrow, count);
        assert_eq!(dots.len(), count, "{precision}: {dots:?}");
        let types = format!("tensor<16x32x{element}> * tensor<32x16x{element}> -> tensor<16x16xf32>");
        assert!(dots.iter().all(|dot| dot.ends_with(&types)), "{precision}: {dots:?}");
        assert!(dots.iter().all(|dot| dot.contains("tf32 :") == (element == "f32")), "{precision}: {dots:?}");
    }
}

#[test]
fn dots_that_would_take_more_time_stay() {
    for (precision, narrow, most) in [
        ("tf32x3", FloatType::Tf32, 2),
        ("tf32x3", FloatType::Bf16, 9),
        ("bf16x6", FloatType::Bf16, 5),
        ("ieee", FloatType::Tf32, 9),
    ] {
        let dots = dots(precision, narrow, most);
        let [dot] = &dots[..] else { panic!("{precision}: {dots:?}") };
        assert!(dot.contains("tt.dot %a, %b, %c"), "{precision}: {dot}");
    }
}
