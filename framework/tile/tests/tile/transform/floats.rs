//! Minima of extended numbers are computed in the narrow type, and quotients by constants are products.

use super::read;
use tilewright_testkit::seeded_rng::SeededRng;
use tilewright_tile::op::Dialects;
use tilewright_tile::text::print_module;
use tilewright_tile::transform::{FloatCosts, remove_unused_operations, simplify_floats};
use tilewright_tile::{Attribute, TileModule, verify_module};

const CHEAP: FloatCosts = FloatCosts { has_narrow_extrema: true, has_inexact_quotients: true };
const EXACT: FloatCosts = FloatCosts { has_narrow_extrema: false, has_inexact_quotients: false };

fn simplified(module: &TileModule, costs: FloatCosts) -> TileModule {
    let mut done = simplify_floats(module, &Dialects::neutral(), costs).unwrap_or_else(|error| panic!("{error}"));
    remove_unused_operations(&mut done);
    verify_module(&done).unwrap_or_else(|violation| panic!("{violation}\n{}", print_module(&done)));
    done
}

fn program(body: &str, result: &str) -> TileModule {
    read(&format!(
        "module {{ tt.func public @f(%a: tensor<8xbf16>, %b: tensor<8xbf16>, %h: tensor<8xf16>, %w: tensor<8xf32>) -> {result} {{
 {body}
 tt.return %r : {result}
 }} }}"
    ))
}

const EXTEND: &str = "%x = arith.extf %a : tensor<8xbf16> to tensor<8xf32>
 %y = arith.extf %b : tensor<8xbf16> to tensor<8xf32>";

#[test]
fn chains_of_extrema_are_extended_once() {
    let before = format!(
        "%c = arith.constant dense<-1.5> : tensor<8xf32>
 {EXTEND}
 %m = arith.maxnumf %x, %c : tensor<8xf32>
 %r = arith.minimumf %m, %y : tensor<8xf32>"
    );
    let after = "%0 = arith.constant dense<-1.5> : tensor<8xbf16>
 %1 = arith.maxnumf %a, %0 : tensor<8xbf16>
 %2 = arith.minimumf %1, %b : tensor<8xbf16>
 %r = arith.extf %2 : tensor<8xbf16> to tensor<8xf32>";
    let (before, after) = (program(&before, "tensor<8xf32>"), program(after, "tensor<8xf32>"));
    assert_eq!(print_module(&simplified(&before, CHEAP)), print_module(&after));
    assert_eq!(print_module(&simplified(&before, EXACT)), print_module(&before));
}

#[test]
fn a_rounded_minimum_is_never_extended() {
    let before = format!(
        "{EXTEND}
 %m = arith.minnumf %x, %y : tensor<8xf32>
 %r = arith.truncf %m : tensor<8xf32> to tensor<8xbf16>"
    );
    let after = program("%r = arith.minnumf %a, %b : tensor<8xbf16>", "tensor<8xbf16>");
    let found = print_module(&simplified(&program(&before, "tensor<8xbf16>"), CHEAP));
    assert_eq!(found.replace("%m", "%r"), print_module(&after));
}

#[test]
fn minima_of_other_numbers_stay_wide() {
    for body in [
        // The constant is no number of the narrow type.
        format!(
            "%c = arith.constant dense<0.1> : tensor<8xf32>\n {EXTEND}\n %r = arith.maxnumf %x, %c : tensor<8xf32>"
        ),
        // The types differ.
        format!(
            "{EXTEND}\n %z = arith.extf %h : tensor<8xf16> to tensor<8xf32>\n %r = arith.maxnumf %x, %z : tensor<8xf32>"
        ),
        // The extended number has another use.
        format!("{EXTEND}\n %m = arith.maxnumf %x, %y : tensor<8xf32>\n %r = arith.addf %m, %x : tensor<8xf32>"),
        format!("{EXTEND}\n %r = arith.maxnumf %x, %w : tensor<8xf32>"),
    ] {
        let mut before = program(&body, "tensor<8xf32>");
        remove_unused_operations(&mut before);
        assert_eq!(print_module(&simplified(&before, CHEAP)), print_module(&before));
    }
}

/// The product with the rounded reciprocal differs from the exact quotient by less than two units of the last place.
#[test]
fn quotients_by_constants_have_the_error_of_the_division() {
    let mut random = SeededRng::new(7);
    for divisor in [3.0f32, 6.0, -7.0, 448.0, 1.0e-20, 0.1, 8.0] {
        let body = format!(
            "%c = arith.constant dense<0x{:08X}> : tensor<8xf32>\n %r = arith.divf %w, %c : tensor<8xf32>",
            divisor.to_bits()
        );
        let done = simplified(&program(&body, "tensor<8xf32>"), CHEAP);
        let text = print_module(&done);
        assert!(text.contains("arith.mulf") && !text.contains("arith.divf"), "{text}");
        let body = done.functions[0].body.as_ref().expect("a body");
        let constants = body.walk_region(body.root()).into_iter().filter_map(|op| body.op(op).attributes.get("value"));
        let [Attribute::Dense(reciprocal)] = constants.collect::<Vec<_>>()[..] else { panic!("{text}") };
        let reciprocal = f32::from_bits(reciprocal.elements[0] as u32);
        for _ in 0..1000 {
            let dividend = f32::from_bits(0x3F80_0000 | random.below(1 << 23) as u32);
            let (product, exact) = (dividend * reciprocal, f64::from(dividend) / f64::from(divisor));
            let unit = f64::from(f32::from_bits((exact as f32).abs().to_bits() & 0x7F80_0000)) * 2f64.powi(-23);
            assert!((f64::from(product) - exact).abs() < 2.0 * unit, "{dividend} / {divisor}");
        }
    }
}

#[test]
fn quotients_without_a_normal_reciprocal_stay() {
    for divisor in ["0.0", "1.0e-45", "3.0e38", "0x7F800000"] {
        let body =
            format!("%c = arith.constant dense<{divisor}> : tensor<8xf32>\n %r = arith.divf %w, %c : tensor<8xf32>");
        let before = program(&body, "tensor<8xf32>");
        assert_eq!(print_module(&simplified(&before, CHEAP)), print_module(&before), "{divisor}");
    }
}
