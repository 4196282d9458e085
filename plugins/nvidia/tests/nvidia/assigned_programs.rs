//! Layouts of programs on targets of this vendor: those of operands of products, and those that the program says.
#![allow(clippy::unwrap_used)]

use crate::targets::target;
use tilewright_assign::Strategy;
use tilewright_tile as tile;
use tilewright_tile::marks::{INSTRUCTION, WARPS_ALONG};
use tilewright_tile::op::Dialects;
use tilewright_tile::{Attribute, Attributes, TileModule, TileType};
use tilewright_vendor_testkit::prelude::*;

/// The places of a 64 x 64 tile, row after row.
const PLACES: &str = "%i = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
    %width = arith.constant dense<64> : tensor<64x1xi32>
    %down = tt.expand_dims %i {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
    %rows = arith.muli %down, %width : tensor<64x1xi32>
    %across = tt.expand_dims %i {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
    %wide_rows = tt.broadcast %rows : tensor<64x1xi32> -> tensor<64x64xi32>
    %wide_across = tt.broadcast %across : tensor<1x64xi32> -> tensor<64x64xi32>
    %at = arith.addi %wide_rows, %wide_across : tensor<64x64xi32>";

/// Where such a tile of the memory behind a pointer is.
fn at(name: &str, pointer: &str, ty: &str) -> String {
    format!(
        "%{name}_base = tt.splat %{pointer} : !tt.ptr<{ty}> -> tensor<64x64x!tt.ptr<{ty}>>
    %{name}_at = tt.addptr %{name}_base, %at : tensor<64x64x!tt.ptr<{ty}>>, tensor<64x64xi32>"
    )
}

/// A product whose factors come from registers has them in the layouts of its plan: rows can be loaded so, and columns that are
/// stored as rows, too, are converted.
#[test]
fn factors_are_brought_to_the_layouts_of_the_plan() {
    let places = [at("a", "p", "f16"), at("b", "q", "f16"), at("c", "r", "f32"), at("d", "s", "f16")].join("\n    ");
    let text = format!(
        "module {{
  tt.func public @f(%p: !tt.ptr<f16> {{tt.divisibility = 16 : i32}}, %q: !tt.ptr<f16> {{tt.divisibility = 16 : i32}}, %r: !tt.ptr<f32> {{tt.divisibility = 16 : i32}}, %s: !tt.ptr<f16> {{tt.divisibility = 16 : i32}}) {{
    {PLACES}
    {places}
    %a = tt.load %a_at : tensor<64x64x!tt.ptr<f16>>
    %b = tt.load %b_at : tensor<64x64x!tt.ptr<f16>>
    tt.store %d_at, %b : tensor<64x64x!tt.ptr<f16>>
    %zero = arith.constant dense<0.0> : tensor<64x64xf32>
    %c = tt.dot %a, %b, %zero : tensor<64x64xf16> * tensor<64x64xf16> -> tensor<64x64xf32>
    tt.store %c_at, %c : tensor<64x64x!tt.ptr<f32>>
    tt.return
  }}
}}"
    );
    let target = target("a100");
    let families = FamilySet::new(vec![&Neutral, target.families()]);
    let means = means(&target);
    let machine = LaunchConfig { means, families: &families, lanes: 32, warps: 4 };
    let module = tile::text::parse(&text, &Dialects::neutral()).unwrap();
    let report = assign(&module, &machine, Strategy::LeastCost).unwrap().report;
    let wanted = |by: &str| -> Vec<_> {
        let conversions = report.functions[0].conversions.iter();
        conversions.filter(|left| left.wanted_by.iter().any(|user| user == by)).map(|left| left.value.clone()).collect()
    };
    assert_eq!(wanted("tt.dot"), ["%b"], "{report}");
}

/// Sums that become the first factor of the next product stay where they are: the fragment of a 16 x 8 tile of sums is that of one
/// half of a 16 x 16 tile of the factor (PTX ISA, "Matrix Fragments for mma.m16n8k16"), where each warp has whole rows in both
/// products and the second reads K in the order in which the first has left it. Both say that they keep whole rows: else other ways
/// of them are weighed.
#[test]
fn sums_are_the_next_factor_where_they_are() {
    let arguments =
        ["q", "k", "v"].map(|name| format!("%{name}: !tt.ptr<f16> {{tt.divisibility = 16 : i32}}")).join(", ");
    let places = [at("a", "q", "f16"), at("b", "k", "f16"), at("c", "v", "f16"), at("o", "r", "f32")].join("\n    ");
    let text = format!(
        "module {{
  tt.func public @f({arguments}, %r: !tt.ptr<f32> {{tt.divisibility = 16 : i32}}) {{
    {PLACES}
    {places}
    %a = tt.load %a_at : tensor<64x64x!tt.ptr<f16>>
    %b = tt.load %b_at : tensor<64x64x!tt.ptr<f16>>
    %c = tt.load %c_at : tensor<64x64x!tt.ptr<f16>>
    %zero = arith.constant dense<0.0> : tensor<64x64xf32>
    %s = tt.dot %a, %b, %zero {{tw.wholeRows}} : tensor<64x64xf16> * tensor<64x64xf16> -> tensor<64x64xf32>
    %p = arith.truncf %s : tensor<64x64xf32> to tensor<64x64xf16>
    %o = tt.dot %p, %c, %zero {{tw.wholeRows}} : tensor<64x64xf16> * tensor<64x64xf16> -> tensor<64x64xf32>
    tt.store %o_at, %o : tensor<64x64x!tt.ptr<f32>>
    tt.return
  }}
}}"
    );
    let module = tile::text::parse(&text, &Dialects::neutral()).unwrap();
    for name in ["a100", "rtx4090"] {
        let target = target(name);
        let families = FamilySet::new(vec![&Neutral, target.families()]);
        let means = means(&target);
        for warps in [1, 2, 4] {
            let machine = LaunchConfig { means, families: &families, lanes: 32, warps };
            let report = assign(&module, &machine, Strategy::LeastCost).unwrap().report;
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
    let at = |name: &str, pointer: &str| at(name, pointer, "f16").replace("64x64", "32x32");
    let places = [at("a", "p"), at("b", "q"), at("c", "r")].join("\n    ");
    let text = format!(
        "module {{
  tt.func public @f(%p: !tt.ptr<f16> {{tt.divisibility = 16 : i32}}, %q: !tt.ptr<f16> {{tt.divisibility = 16 : i32}}, %r: !tt.ptr<f16> {{tt.divisibility = 16 : i32}}) {{
    {PLACES}
    {places}
    %a = tt.load %a_at : tensor<32x32x!tt.ptr<f16>>
    %b = tt.load %b_at : tensor<32x32x!tt.ptr<f16>>
    %zero = arith.constant dense<0.0> : tensor<32x32xf16>
    %c = tt.dot %a, %b, %zero {said} : tensor<32x32xf16> * tensor<32x32xf16> -> tensor<32x32xf16>
    tt.store %c_at, %c : tensor<32x32x!tt.ptr<f16>>
    tt.return
  }}
}}",
        PLACES = PLACES.replace("64", "32")
    );
    tile::text::parse(&text, &Dialects::neutral()).unwrap()
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
    let families = FamilySet::new(vec![&Neutral, target.families()]);
    let means = means(&target);
    let machine = LaunchConfig { means, families: &families, lanes: 32, warps: 4 };
    let weighed = assign(&small_product(""), &machine, Strategy::LeastCost).unwrap();
    let said = product_of(&weighed.module);
    assert!(said.get(WARPS_ALONG).is_some() && said.get(INSTRUCTION).is_some(), "{}", weighed.report);
    assert_eq!(weighed.report.costly().count(), 0, "{}", weighed.report);
    let mut cheapest = f64::INFINITY;
    for [m, n] in [[4, 1], [2, 2], [1, 4]] {
        let unit = "mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16";
        let asked = format!("{{tw.instruction = \"{unit}\", tw.warpsAlong = array<i64: {m}, {n}>}}");
        let told = assign(&small_product(&asked), &machine, Strategy::LeastCost);
        let Ok(told) = told else { continue };
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
        let program = small_product(&format!("{{tw.warpsAlong = {wrong}}}"));
        let refused = assign(&program, &machine, Strategy::LeastCost).unwrap_err().to_string();
        assert!(refused.contains(why), "{refused}");
    }
}
