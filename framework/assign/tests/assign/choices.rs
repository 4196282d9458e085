//! What the choice of layouts rests on: what conversions cost, where they stand, steps beyond what one access suggests, and values
//! that are computed again.
#![allow(clippy::unwrap_used)]

use tilewright_vendor_testkit::assigned;

use assigned::look;
use tilewright_assign::layouts::LayoutCache;
use tilewright_assign::{Assigned, LaunchConfig, Strategy, assign};
use tilewright_layout::families::Neutral;
use tilewright_layout::parse_spec;
use tilewright_plan::movement::PlanContext;
use tilewright_target::TargetDescription;
use tilewright_tile::op::Dialects;
use tilewright_tile::{Body, LayoutName, TileModule, Value, text, verify};

/// Rows of which a lane holds eight neighbours, and columns of which lanes hold one element after the other.
const ROWS: &str =
    "#ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0]}>";
const COLUMNS: &str =
    "#ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [32, 1], warpsPerCTA = [1, 4], order = [1, 0]}>";

fn target() -> TargetDescription {
    TargetDescription::from_toml("h100", include_str!("../../../../targets/h100.toml")).unwrap()
}

fn machine(target: &TargetDescription) -> LaunchConfig<'_> {
    LaunchConfig { context: PlanContext::of(target), families: &Neutral, lanes: 32, warps: 4 }
}

fn module(program: &str) -> TileModule {
    let module = text::parse(program, &Dialects::neutral()).unwrap_or_else(|error| panic!("{program}\n{error}"));
    verify(&module).unwrap_or_else(|violation| panic!("{}", violation.in_text(program)));
    module
}

/// The layouts of a program, which means the same with them.
fn chosen(program: &TileModule, strategy: Strategy) -> Assigned {
    let target = target();
    let made = assign(program, &machine(&target), strategy).unwrap();
    look(program, &made.module, &machine(&target)).unwrap_or_else(|why| panic!("{why}"));
    made
}

fn all_values(body: &Body) -> Vec<Value> {
    let arguments = body.blocks(body.root()).iter().flat_map(|block| body.arguments(*block).to_vec());
    let results = body.walk(body.root()).into_iter().flat_map(|op| body.op(op).results.to_vec());
    arguments.chain(results).collect()
}

/// Gives the values of a name a layout.
fn fix(module: &mut TileModule, name: &str, layout: &str) {
    let body = module.functions[0].body.as_mut().unwrap();
    let value = all_values(body).into_iter().find(|value| body.name(*value) == Some(name));
    let value = value.unwrap_or_else(|| panic!("no %{name}"));
    let ty = body.ty(value).with_layout(Some(LayoutName::new(parse_spec(layout).unwrap(), layout)));
    body.set_type(value, ty);
}

/// Between a load and a store that want different layouts the narrow value is converted, not the wide one that is made of it:
/// half the bytes move.
#[test]
fn a_conversion_stands_where_it_costs_the_least() {
    let what = "%y = arith.extf %x : tensor<32x32xf16> to tensor<32x32xf32>
    %z = arith.mulf %y, %y : tensor<32x32xf32>
    %w = arith.addf %z, %y : tensor<32x32xf32>";
    let mut program = module(&assigned::square(what, "%w"));
    fix(&mut program, "x", ROWS);
    fix(&mut program, "to", COLUMNS);
    for strategy in [Strategy::Propagation, Strategy::LeastCost] {
        let made = chosen(&program, strategy);
        let costly: Vec<_> = made.report.costly().map(|left| &left.value[..]).collect();
        assert_eq!(costly, ["%x"], "{}", made.report);
    }
}

/// What a report says that a program costs is at the least what its conversions cost, and these are what plans say.
#[test]
fn conversions_are_part_of_the_cost() {
    let what = "%y = arith.extf %x : tensor<32x32xf16> to tensor<32x32xf32>";
    let stays = {
        let mut program = module(&assigned::square(what, "%y"));
        fix(&mut program, "x", ROWS);
        fix(&mut program, "to", ROWS);
        chosen(&program, Strategy::LeastCost).report
    };
    let moves = {
        let mut program = module(&assigned::square(what, "%y"));
        fix(&mut program, "x", ROWS);
        fix(&mut program, "to", COLUMNS);
        chosen(&program, Strategy::LeastCost).report
    };
    assert_eq!(stays.costly().count(), 0, "{stays}");
    let of_conversions: f64 = moves.costly().map(|left| left.slots * left.weight).sum();
    // A warp's quarter of 1024 numbers is four exchanges of pairs, or a store, a load and the barrier between.
    assert!(of_conversions >= 4.0, "{moves}");
    assert!(moves.cost() >= of_conversions, "{moves}");
}

/// A way through shared memory waits for the store, the barrier and the load, as long as the target's table says: that much dearer
/// is a program on a target where each takes longer.
#[test]
fn what_a_conversion_waits_for_is_the_targets() {
    let mut program = module(&assigned::square("%y = arith.extf %x : tensor<32x32xf16> to tensor<32x32xf32>", "%y"));
    fix(&mut program, "x", ROWS);
    fix(&mut program, "to", COLUMNS);
    let cost = |target: &TargetDescription| {
        let report = assign(&program, &machine(target), Strategy::LeastCost).unwrap().report;
        assert_eq!(report.costly().map(|left| &left.value[..]).collect::<Vec<_>>(), ["%x"], "{report}");
        report.cost()
    };
    let usual = target();
    let mut slow = target();
    slow.costs.shared_store_wavefront.latency += 3.0;
    slow.costs.block_barrier.latency += 50.0;
    slow.costs.shared_load_wavefront.latency += 700.0;
    slow.costs.exchange.latency += 6000.0;
    assert_eq!(cost(&slow) - cost(&usual), 753.0);
}

/// A program that moves nothing costs its accesses and what its lanes compute, which are counted here by hand: a warp holds
/// eight rows of 32 elements, eight neighbours a lane.
#[test]
fn what_is_not_converted_costs_its_accesses_and_instructions() {
    let mut program = module(&assigned::square("%y = arith.extf %x : tensor<32x32xf16> to tensor<32x32xf32>", "%y"));
    fix(&mut program, "x", ROWS);
    fix(&mut program, "to", ROWS);
    let cost = chosen(&program, Strategy::LeastCost).report.cost();
    // Rows of 64 bytes, of which each lane loads sixteen.
    let load = 2.0 + 8.0 * 64.0 / 128.0;
    // Rows of 128 bytes; a lane has 32, so that either access stores half of each unit of 32.
    let store = 2.0 * (2.0 + 8.0 * 128.0 / 128.0);
    // A cast for each of eight elements.
    let casts = 8.0 * 0.25;
    // The places of a row and of an element, for either pointer: neighbours follow each other.
    let places = 2.0 * (0.25 + 0.25);
    // The addresses likewise; those that are told their layout are computed as they stand, for each element.
    let addresses = 0.25 + 8.0 * 0.25;
    assert_eq!(cost, load + store + casts + places + addresses);
}

/// A value that a loop carries in one layout is converted within the loop where it is wanted in another.
#[test]
fn what_a_loop_carries_is_converted_in_the_loop() {
    let what = "%y = arith.extf %x : tensor<32x32xf16> to tensor<32x32xf32>
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %r = scf.for %k = %c0 to %count step %c1 iter_args(%acc = %y) -> (tensor<32x32xf32>) : i32 {
      tt.store %to, %acc : tensor<32x32x!tt.ptr<f32>>
      %next = arith.addf %acc, %y : tensor<32x32xf32>
      scf.yield %next : tensor<32x32xf32>
    }
    %s = arith.mulf %r, %r : tensor<32x32xf32>";
    let mut program = module(&assigned::square(what, "%s"));
    for name in ["x", "y", "r", "next"] {
        fix(&mut program, name, ROWS);
    }
    fix(&mut program, "to", COLUMNS);
    for strategy in [Strategy::Propagation, Strategy::LeastCost] {
        let made = chosen(&program, strategy);
        let carried: Vec<_> = made.report.costly().filter(|left| left.value == "%acc").collect();
        assert_eq!(carried.len(), 1, "{}", made.report);
        assert_eq!((&carried[0].operation[..], carried[0].weight > 1.0), ("argument", true), "{}", made.report);
    }
}

/// Sums of what many loads bring, each of narrow and of wide numbers: each load would choose another layout for itself, and
/// none is converted once they agree. There are too many to weigh all choices.
#[test]
fn accesses_agree_beyond_what_each_would_choose() {
    const PAIRS: usize = 14;
    let mut arguments = Vec::new();
    let mut lines = Vec::new();
    for pair in 0..PAIRS {
        for (name, ty) in [("p", "f16"), ("q", "f32")] {
            arguments.push(format!("%{name}{pair}: !tt.ptr<{ty}> {{tt.divisibility = 16 : i32}}"));
            lines.push(format!(
                "%{name}{pair}b = tt.splat %{name}{pair} : !tt.ptr<{ty}> -> tensor<1024x!tt.ptr<{ty}>>
    %{name}{pair}a = tt.addptr %{name}{pair}b, %i : tensor<1024x!tt.ptr<{ty}>>, tensor<1024xi32>"
            ));
        }
        lines.push(format!(
            "%x{pair} = tt.load %p{pair}a : tensor<1024x!tt.ptr<f16>>
    %w{pair} = arith.extf %x{pair} : tensor<1024xf16> to tensor<1024xf32>
    %y{pair} = tt.load %q{pair}a : tensor<1024x!tt.ptr<f32>>
    %z{pair} = arith.addf %w{pair}, %y{pair} : tensor<1024xf32>
    tt.store %q{pair}a, %z{pair} : tensor<1024x!tt.ptr<f32>>"
        ));
    }
    let program = module(&format!(
        "module {{
  tt.func public @f({}) {{
    %i = tt.make_range {{end = 1024 : i32, start = 0 : i32}} : tensor<1024xi32>
    {}
    tt.return
  }}
}}",
        arguments.join(", "),
        lines.join("\n    ")
    ));
    let followed = chosen(&program, Strategy::Propagation).report;
    assert_eq!(followed.costly().count(), PAIRS, "{followed}");
    let least = chosen(&program, Strategy::LeastCost).report;
    assert_eq!(least.costly().count(), 0, "{least}");
}

/// Places that follow from a range are computed in each layout in which they are wanted: as many ranges, and no conversion of them.
#[test]
fn places_are_computed_once_for_each_layout() {
    let what = "%y = arith.extf %x : tensor<32x32xf16> to tensor<32x32xf32>";
    let places = |to: &str| {
        let mut program = module(&assigned::square(what, "%y"));
        fix(&mut program, "x", ROWS);
        fix(&mut program, "to", to);
        let made = chosen(&program, Strategy::LeastCost);
        let body = made.module.functions[0].body.as_ref().unwrap();
        let families = Neutral;
        let layouts = LayoutCache::new(&families);
        let offsets = all_values(body)
            .into_iter()
            .filter(|value| body.name(*value).is_some_and(|name| name.starts_with("offsets")));
        let mut held: Vec<_> = offsets.map(|value| layouts.distributed(body.ty(value)).unwrap()).collect();
        let all = held.len();
        held.dedup();
        assert_eq!(held.len(), all, "each layout once");
        let converted: Vec<_> = made.report.functions[0].conversions.iter().map(|left| left.value.clone()).collect();
        (all, converted)
    };
    assert_eq!(places(ROWS), (1, vec![]));
    assert_eq!(places(COLUMNS), (2, vec!["%x".to_owned()]));
}

#[test]
fn a_layout_of_another_block_is_refused() {
    let mut program = module(&assigned::square("%y = arith.extf %x : tensor<32x32xf16> to tensor<32x32xf32>", "%y"));
    fix(&mut program, "x", &ROWS.replace("warpsPerCTA = [4, 1]", "warpsPerCTA = [4294967296, 1]"));
    let target = target();
    let refused = assign(&program, &machine(&target), Strategy::LeastCost).unwrap_err().to_string();
    assert!(refused.ends_with("lies in 4294967296 warps of 32 lanes, and the program has 4 of 32"), "{refused}");
}

/// Before anything is weighed.
#[test]
fn a_block_that_the_target_has_not_is_refused() {
    let program = module(&assigned::square("%y = arith.extf %x : tensor<32x32xf16> to tensor<32x32xf32>", "%y"));
    let target = target();
    for (lanes, warps, expected) in [
        (1, 4, "target h100 has no warps of 1 lanes; it has [32]"),
        (32, 64, "target h100 has blocks of at most 1024 lanes, the layouts want 2048"),
        (32, 3, "module: a block has a power of two of warps"),
    ] {
        let machine = LaunchConfig { lanes, warps, ..machine(&target) };
        assert_eq!(assign(&program, &machine, Strategy::LeastCost).unwrap_err().to_string(), expected);
    }
}
