//! Layout assignment on this vendor's targets: layouts of dot operands, and explicit layouts of programs.

use crate::prelude::*;
use tilewright_assign::{AssignmentError, Strategy};
use tilewright_tile as tile;
use tilewright_tile::op::Dialects;
use tilewright_tile::op_attrs::{INSTRUCTION, WARP_COUNTS_M_N};
use tilewright_tile::{Attribute, Attributes, TileModule, TileType};
use tilewright_vendor_testkit::assigned::pinned_dots::check_dot_alternatives;

/// Returns a program with this body. For each pointer `%a`, given with its element type, `%a_at` has the addresses of a
/// square tile of `size` rows at `%a`.
fn program(size: u64, pointers: &[(&str, &str)], body: &str) -> TileModule {
    let tile = TileAddressText { name: "", rows: size, columns: size, pitch: size, layout: None };
    let addresses = pointers.iter().map(|(name, ty)| tile.addresses(&format!("{name}_at"), name, ty));
    let address_ops = tile.offsets() + &addresses.collect::<String>();
    let arguments = pointers.iter().map(|(name, ty)| format!("%{name}: !tt.ptr<{ty}> {{tt.divisibility = 16 : i32}}"));
    let arguments = arguments.collect::<Vec<_>>().join(", ");
    let text = format!("module {{\n  tt.func public @f({arguments}) {{\n{address_ops}{body}\n    tt.return\n  }}\n}}");
    tile::text::parse_module(&text, &Dialects::neutral()).unwrap()
}

/// Assigns layouts to a program on a target.
fn assigned(target: &NvidiaTarget, warps: u32, module: &TileModule) -> Result<AssignedModule, AssignmentError> {
    let families = FamilyProviders::new(vec![&NeutralFamilies, target.families()]);
    let config = LaunchConfig { context: build_plan_context(target), families: &families, lanes: 32, warps };
    assign_layouts(module, &config, Strategy::LeastCost)
}

/// Checks that register operands of a dot have the layouts of its plan: a tile of columns that is also stored as rows
/// is converted. A tile of rows is loaded as the MMA reads it, with eight elements of K in a lane.
#[test]
fn operands_are_converted_to_the_layouts_of_the_plan() {
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

/// Checks that an accumulator that is operand A of the next dot keeps its registers. The fragment of a 16 x 8
/// accumulator tile equals half of a 16 x 16 tile of A (PTX ISA, "Matrix Fragments for mma.m16n8k16"), if each warp has
/// whole rows in both dots and the second reads K in the order of the first's columns. Both dots have the attribute
/// `tw.warpsAlongM`, so that no other candidates are compared.
#[test]
fn an_accumulator_is_the_next_operand_without_a_conversion() {
    let module = program(
        64,
        &[("pa", "f16"), ("pb", "f16"), ("pc", "f16"), ("po", "f32")],
        "
    %a = tt.load %pa_at : tensor<64x64x!tt.ptr<f16>>
    %b = tt.load %pb_at : tensor<64x64x!tt.ptr<f16>>
    %c = tt.load %pc_at : tensor<64x64x!tt.ptr<f16>>
    %zero = arith.constant dense<0.0> : tensor<64x64xf32>
    %s = tt.dot %a, %b, %zero {tw.warpsAlongM} : tensor<64x64xf16> * tensor<64x64xf16> -> tensor<64x64xf32>
    %p = arith.truncf %s : tensor<64x64xf32> to tensor<64x64xf16>
    %o = tt.dot %p, %c, %zero {tw.warpsAlongM} : tensor<64x64xf16> * tensor<64x64xf16> -> tensor<64x64xf32>
    tt.store %po_at, %o : tensor<64x64x!tt.ptr<f32>>",
    );
    for name in ["a100", "rtx4090"] {
        for warps in [1, 2, 4] {
            let report = assigned(&target(name), warps, &module).unwrap().report;
            let conversions = &report.functions[0].conversions;
            assert!(conversions.iter().any(|left| left.value == "%c"), "{name}, {warps} warps: {report}");
            // Registers may be renumbered, which costs nothing.
            let moves = conversions.iter().any(|left| left.value == "%p" && left.price > 0.0);
            assert!(!moves, "{name}, {warps} warps: {report}");
        }
    }
}

/// Checks that an operand that all iterations of a loop multiply leaves registers for the loop's other values. A tile
/// of 128 x 128 `f16` takes 256 registers of a lane if all warps are along N, and 32 if all are along M.
#[test]
fn operands_from_before_a_loop_leave_registers_for_its_accumulators() {
    let text = include_str!("../data/attention.ttir");
    let module = tile::text::parse_module(text, &Dialects::neutral()).unwrap();
    let assigned = assigned(&target("a100"), 8, &module).unwrap();
    assert!(assigned.report.functions[0].conversions.iter().all(|left| left.value != "%scores"), "{}", assigned.report);
    let warps = dot_attributes(&assigned.module).get(WARP_COUNTS_M_N).cloned();
    let is_along_m = |warps| warps == Attribute::Array(TileType::integer(64), vec![8, 1]);
    assert!(warps.is_none_or(is_along_m), "{}", assigned.report);
}

/// Checks that plain accesses through a descriptor whose size is unknown are coalesced element by element, also on a
/// target with bulk tensor copies: lanes are along the last axis.
#[test]
fn accesses_through_descriptors_are_as_narrow_as_the_tensor_allows() {
    let text = "module {
  tt.func public @f(%x: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %y: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %size: i32) {
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i64
    %pitch = arith.extsi %size : i32 to i64
    %from = tt.make_tensor_descriptor %x, [%size, %size], [%pitch, %one] : <f16>, <32x32xf16>
    %to = tt.make_tensor_descriptor %y, [%size, %size], [%pitch, %one] : <f16>, <32x32xf16>
    %tile = tt.descriptor_load %from[%zero, %zero] : !tt.tensordesc<32x32xf16> -> tensor<32x32xf16>
    tt.descriptor_store %to[%zero, %zero], %tile : !tt.tensordesc<32x32xf16>, tensor<32x32xf16>
    tt.return
  }
}";
    let module = tile::text::parse_module(text, &Dialects::neutral()).unwrap();
    for name in ["h100", "a100"] {
        let report = assigned(&target(name), 4, &module).unwrap().report.to_string();
        assert!(report.contains("sizePerThread = [1, 1], threadsPerWarp = [1, 32]"), "{name}: {report}");
    }
}

/// Returns a program with a dot of 32 x 32 tiles of `f16`, which has these attributes.
fn small_dot(attributes: &str) -> TileModule {
    let body = format!(
        "
    %a = tt.load %pa_at : tensor<32x32x!tt.ptr<f16>>
    %b = tt.load %pb_at : tensor<32x32x!tt.ptr<f16>>
    %zero = arith.constant dense<0.0> : tensor<32x32xf16>
    %c = tt.dot %a, %b, %zero {attributes} : tensor<32x32xf16> * tensor<32x32xf16> -> tensor<32x32xf16>
    tt.store %pc_at, %c : tensor<32x32x!tt.ptr<f16>>"
    );
    program(32, &[("pa", "f16"), ("pb", "f16"), ("pc", "f16")], &body)
}

/// Returns the attributes of a module's dot.
fn dot_attributes(module: &TileModule) -> Attributes {
    let body = module.functions[0].body.as_ref().unwrap();
    let dot = body.walk_region(body.root()).into_iter().find(|op| body.op(*op).name() == "tt.dot").unwrap();
    body.op(dot).attributes.clone()
}

/// Checks that a dot uses a slower candidate if that saves conversions, and gets the candidate's attributes; explicit
/// attributes stay.
#[test]
fn dots_take_the_alternative_with_the_cheapest_program() {
    let target = target("a100");
    let of = |attributes: &str| assigned(&target, 4, &small_dot(attributes));
    let weighed = of("").unwrap();
    let attributes = dot_attributes(&weighed.module);
    assert!(attributes.get(WARP_COUNTS_M_N).is_some() && attributes.get(INSTRUCTION).is_some(), "{}", weighed.report);
    // B is loaded by 16 bytes along N and transposed through shared memory; nothing else is converted.
    assert!(weighed.report.costly_conversions().all(|line| line.value == "%b"), "{}", weighed.report);
    let mut cheapest = f64::INFINITY;
    for [m, n] in [[4, 1], [2, 2], [1, 4]] {
        let atom = "mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16";
        let requested = format!("{{tw.instruction = \"{atom}\", tw.warpsAlong = array<i64: {m}, {n}>}}");
        let Ok(pinned) = of(&requested) else { continue };
        let kept = dot_attributes(&pinned.module);
        assert_eq!(kept.get(WARP_COUNTS_M_N), Some(&Attribute::Array(TileType::integer(64), vec![m, n])));
        cheapest = cheapest.min(pinned.report.total_cost());
    }
    assert!(
        cheapest.is_finite() && weighed.report.total_cost() <= cheapest,
        "{} {cheapest}",
        weighed.report.total_cost()
    );
    for (wrong, why) in [
        ("array<i64: 2, 1>", "2 warps along M and 1 along N are required, but the block has 4"),
        ("array<i64: 4>", "`tw.warpsAlong` is `array<i64: M, N>`"),
        ("4 : i32", "found 4 : i32"),
    ] {
        let refused = of(&format!("{{tw.warpsAlong = {wrong}}}")).unwrap_err().to_string();
        assert!(refused.contains(why), "{refused}");
    }
}

/// Checks the plans of dots that are listed as alternatives: stated by the program, none is predicted to be faster than
/// the plan that was taken.
#[test]
fn stated_plans_of_dots_are_not_faster() {
    let compared = ["a100", "h100"].map(|gpu_model| check_dot_alternatives(&target(gpu_model)));
    assert!(compared.iter().all(|count| *count >= 3), "{compared:?} plans");
}
