//! Layouts of programs on targets of this vendor: those of operands of products, and those that the program says.

use crate::prelude::*;
use tilewright_assign::{EngineError, Strategy};
use tilewright_tile as tile;
use tilewright_tile::marks::{INSTRUCTION, WARPS_ALONG};
use tilewright_tile::op::Dialects;
use tilewright_tile::{Attribute, Attributes, TileModule, TileType};

/// A program that has addresses of square tiles of so many rows behind its pointers, `%a_at` behind `%a`, each with the type of
/// its elements, and this body.
fn program(size: u64, pointers: &[(&str, &str)], body: &str) -> TileModule {
    let tile = Tile { name: "", rows: size, columns: size, pitch: size, layout: None };
    let addresses = pointers.iter().map(|(name, ty)| tile.addresses(&format!("{name}_at"), name, ty));
    let places = tile.offsets() + &addresses.collect::<String>();
    let arguments = pointers.iter().map(|(name, ty)| format!("%{name}: !tt.ptr<{ty}> {{tt.divisibility = 16 : i32}}"));
    let arguments = arguments.collect::<Vec<_>>().join(", ");
    let text = format!("module {{\n  tt.func public @f({arguments}) {{\n{places}{body}\n    tt.return\n  }}\n}}");
    tile::text::parse(&text, &Dialects::neutral()).unwrap()
}

/// Assigns layouts to a program on a target.
fn assigned(target: &NvidiaTarget, warps: u32, module: &TileModule) -> Result<Assigned, EngineError> {
    let families = FamilySet::new(vec![&Neutral, target.families()]);
    let machine = LaunchConfig { context: context(target), families: &families, lanes: 32, warps };
    assign(module, &machine, Strategy::LeastCost)
}

/// A product whose factors come from registers has them in the layouts of its plan: rows can be loaded so, and columns that are
/// stored as rows, too, are converted.
#[test]
fn factors_are_brought_to_the_layouts_of_the_plan() {
    let module = program(
        64,
        &[("pa", "f16"), ("pb", "f16"), ("pc", "f32"), ("pd", "f16")],
        "
    %a = tt.load %pa_at : tensor<64x64x!tt.ptr<f16>>
    %b = tt.load %pb_at : tensor<64x64x!tt.ptr<f16>>
    tt.store %pd_at, %b : tensor<64x64x!tt.ptr<f16>>
    %zero = arith.constant dense<0.0> : tensor<64x64xf32>
    %c = tt.dot %a, %b, %zero : tensor<64x64xf16> * tensor<64x64xf16> -> tensor<64x64xf32>
    tt.store %pc_at, %c : tensor<64x64x!tt.ptr<f32>>",
    );
    let report = assigned(&target("a100"), 4, &module).unwrap().report;
    let required = |by: &str| -> Vec<_> {
        let conversions = report.functions[0].conversions.iter();
        conversions
            .filter(|left| left.required_by.iter().any(|user| user == by))
            .map(|left| left.value.clone())
            .collect()
    };
    assert_eq!(required("tt.dot"), ["%b"], "{report}");
}

/// Sums that become the first factor of the next product stay where they are: the fragment of a 16 x 8 tile of sums is that of one
/// half of a 16 x 16 tile of the factor (PTX ISA, "Matrix Fragments for mma.m16n8k16"), where each warp has whole rows in both
/// products and the second reads K in the order in which the first has left it. Both say that they keep whole rows: else other ways
/// of them are weighed.
#[test]
fn sums_are_the_next_factor_where_they_are() {
    let module = program(
        64,
        &[("pa", "f16"), ("pb", "f16"), ("pc", "f16"), ("po", "f32")],
        "
    %a = tt.load %pa_at : tensor<64x64x!tt.ptr<f16>>
    %b = tt.load %pb_at : tensor<64x64x!tt.ptr<f16>>
    %c = tt.load %pc_at : tensor<64x64x!tt.ptr<f16>>
    %zero = arith.constant dense<0.0> : tensor<64x64xf32>
    %s = tt.dot %a, %b, %zero {tw.wholeRows} : tensor<64x64xf16> * tensor<64x64xf16> -> tensor<64x64xf32>
    %p = arith.truncf %s : tensor<64x64xf32> to tensor<64x64xf16>
    %o = tt.dot %p, %c, %zero {tw.wholeRows} : tensor<64x64xf16> * tensor<64x64xf16> -> tensor<64x64xf32>
    tt.store %po_at, %o : tensor<64x64x!tt.ptr<f32>>",
    );
    for name in ["a100", "rtx4090"] {
        for warps in [1, 2, 4] {
            let report = assigned(&target(name), warps, &module).unwrap().report;
            let conversions = &report.functions[0].conversions;
            assert!(conversions.iter().any(|left| left.value == "%c"), "{name}, {warps} warps: {report}");
            // Registers may have other numbers, which costs nothing.
            let moves = conversions.iter().any(|left| left.value == "%p" && left.slots > 0.0);
            assert!(!moves, "{name}, {warps} warps: {report}");
        }
    }
}

/// A product of 32 x 32 tiles of `f16`, with what it says of itself.
fn small_product(said: &str) -> TileModule {
    let body = format!(
        "
    %a = tt.load %pa_at : tensor<32x32x!tt.ptr<f16>>
    %b = tt.load %pb_at : tensor<32x32x!tt.ptr<f16>>
    %zero = arith.constant dense<0.0> : tensor<32x32xf16>
    %c = tt.dot %a, %b, %zero {said} : tensor<32x32xf16> * tensor<32x32xf16> -> tensor<32x32xf16>
    tt.store %pc_at, %c : tensor<32x32x!tt.ptr<f16>>"
    );
    program(32, &[("pa", "f16"), ("pb", "f16"), ("pc", "f16")], &body)
}

/// The attributes of a module's product.
fn product_of(module: &TileModule) -> Attributes {
    let body = module.functions[0].body.as_ref().unwrap();
    let product = body.walk(body.root()).into_iter().find(|op| body.op(*op).name() == "tt.dot").unwrap();
    body.op(product).attributes.clone()
}

/// Where another way than that of the least cycles saves conversions, the product takes it and says it; where the program says the
/// way, it stays.
#[test]
fn products_take_the_way_of_which_the_program_costs_least() {
    let target = target("a100");
    let of = |said: &str| assigned(&target, 4, &small_product(said));
    let weighed = of("").unwrap();
    let said = product_of(&weighed.module);
    assert!(said.get(WARPS_ALONG).is_some() && said.get(INSTRUCTION).is_some(), "{}", weighed.report);
    assert_eq!(weighed.report.costly().count(), 0, "{}", weighed.report);
    let mut cheapest = f64::INFINITY;
    for [m, n] in [[4, 1], [2, 2], [1, 4]] {
        let unit = "mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16";
        let requested = format!("{{tw.instruction = \"{unit}\", tw.warpsAlong = array<i64: {m}, {n}>}}");
        let Ok(told) = of(&requested) else { continue };
        let kept = product_of(&told.module);
        assert_eq!(kept.get(WARPS_ALONG), Some(&Attribute::Array(TileType::integer(64), vec![m, n])));
        cheapest = cheapest.min(told.report.cost());
    }
    assert!(cheapest.is_finite() && weighed.report.cost() <= cheapest, "{} {cheapest}", weighed.report.cost());
    for (wrong, why) in [
        ("array<i64: 2, 1>", "2 warps along M and 1 along N are asked for, and the block has 4"),
        ("array<i64: 4>", "`tw.warpsAlong` is `array<i64: M, N>`"),
        ("4 : i32", "it says 4 : i32"),
    ] {
        let refused = of(&format!("{{tw.warpsAlong = {wrong}}}")).unwrap_err().to_string();
        assert!(refused.contains(why), "{refused}");
    }
}
