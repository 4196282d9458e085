//! Tests of the premises of layout assignment: costs and positions of conversions, steps beyond the suggestions of a
//! single access, and rematerialization.
#![allow(clippy::unwrap_used)]

use crate::assign::module;
use tilewright_vendor_testkit::assigned;

use assigned::check_assigned_module;
use tilewright_assign::layouts::{LayoutCache, resolve_distributed_layout};
use tilewright_assign::{AssignedModule, LaunchConfig, Strategy, assign_layouts};
use tilewright_layout::families::NeutralFamilies;
use tilewright_layout::{Dim, parse_family_spec};
use tilewright_plan::movement::{ConversionKind, PlanContext};
use tilewright_target::{Optimization, TargetDescription};
use tilewright_tile::{FunctionBody, LayoutAttribute, TileModule, Value};

/// Layouts of four warps: in `ROWS` each lane has eight neighbours of a row, in `COLUMNS` a warp has 32 elements of a
/// column.
const ROWS: &str =
    "#ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0]}>";
const COLUMNS: &str =
    "#ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [32, 1], warpsPerCTA = [1, 4], order = [1, 0]}>";

fn target() -> TargetDescription {
    TargetDescription::from_toml("h100", include_str!("../../../../targets/h100.toml")).unwrap()
}

fn config(target: &TargetDescription) -> LaunchConfig<'_> {
    LaunchConfig { context: PlanContext::new(target), families: &NeutralFamilies, lanes: 32, warps: 4 }
}

/// Assigns layouts and checks that the program is otherwise unchanged.
fn chosen(program: &TileModule, strategy: Strategy) -> AssignedModule {
    let target = target();
    let assignment = assign_layouts(program, &config(&target), strategy).unwrap();
    check_assigned_module(program, &assignment.module, &config(&target)).unwrap_or_else(|why| panic!("{why}"));
    assignment
}

fn all_values(body: &FunctionBody) -> Vec<Value> {
    let arguments = body.blocks(body.root()).iter().flat_map(|block| body.arguments(*block).to_vec());
    let results = body.walk_region(body.root()).into_iter().flat_map(|op| body.op(op).results.to_vec());
    arguments.chain(results).collect()
}

/// Sets the layout of the value `%name`, which may be an argument, in the program's only function.
fn fix(module: &mut TileModule, name: &str, layout: &str) {
    let body = module.functions[0].body.as_mut().unwrap();
    let value = all_values(body).into_iter().find(|value| body.value_name(*value) == Some(name));
    let value = value.unwrap_or_else(|| panic!("no %{name}"));
    let ty = body.value_type(value).with_layout(Some(LayoutAttribute::new(parse_family_spec(layout).unwrap(), layout)));
    body.set_type(value, ty);
}

/// Checks that the narrow value is converted instead of the wide one between a load and a store with different layouts:
/// half the bytes move.
#[test]
fn a_conversion_stands_where_it_costs_the_least() {
    let what = "%y = arith.extf %x : tensor<32x32xf16> to tensor<32x32xf32>
    %z = arith.mulf %y, %y : tensor<32x32xf32>
    %w = arith.addf %z, %y : tensor<32x32xf32>";
    let mut program = module(&assigned::build_square_tile_program(what, "%w"));
    fix(&mut program, "x", ROWS);
    fix(&mut program, "to", COLUMNS);
    for strategy in [Strategy::Propagation, Strategy::LeastCost] {
        let assignment = chosen(&program, strategy);
        let costly: Vec<_> = assignment.report.costly_conversions().map(|left| &left.value[..]).collect();
        assert_eq!(costly, ["%x"], "{}", assignment.report);
    }
}

/// Checks that the reported cost of a program is at least the cost of its conversions, which plans determine.
#[test]
fn conversions_add_to_the_cost() {
    let what = "%y = arith.extf %x : tensor<32x32xf16> to tensor<32x32xf32>";
    let stays = {
        let mut program = module(&assigned::build_square_tile_program(what, "%y"));
        fix(&mut program, "x", ROWS);
        fix(&mut program, "to", ROWS);
        chosen(&program, Strategy::LeastCost).report
    };
    let moves = {
        let mut program = module(&assigned::build_square_tile_program(what, "%y"));
        fix(&mut program, "x", ROWS);
        fix(&mut program, "to", COLUMNS);
        chosen(&program, Strategy::LeastCost).report
    };
    assert_eq!(stays.costly_conversions().count(), 0, "{stays}");
    let of_conversions: f64 = moves.costly_conversions().map(|left| left.price * left.weight).sum();
    // A warp's quarter of 1024 numbers takes four shuffles of pairs, or a store, a barrier and a load.
    assert!(of_conversions >= 4.0, "{moves}");
    assert!(moves.total_cost() >= of_conversions, "{moves}");
}

/// Checks that one instruction of each warp stores the totals of its rows, 32 bytes for 8 rows: the lanes that have the
/// same totals in two registers each store another one, and the rows of a warp are adjacent.
#[test]
fn replicas_store_different_registers() {
    let source =
        "tt.func @totals(%x: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %y: !tt.ptr<f32> {tt.divisibility = 16 : i32}) {
      %row = arith.constant dense<32> : tensor<32x1xi32>
      %i = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
      %r = tt.expand_dims %i {axis = 1 : i32} : tensor<32xi32> -> tensor<32x1xi32>
      %o = arith.muli %r, %row : tensor<32x1xi32>
      %c = tt.expand_dims %i {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
      %ob = tt.broadcast %o : tensor<32x1xi32> -> tensor<32x32xi32>
      %cb = tt.broadcast %c : tensor<1x32xi32> -> tensor<32x32xi32>
      %at = arith.addi %ob, %cb : tensor<32x32xi32>
      %base = tt.splat %x : !tt.ptr<f32> -> tensor<32x32x!tt.ptr<f32>>
      %from = tt.addptr %base, %at : tensor<32x32x!tt.ptr<f32>>, tensor<32x32xi32>
      %v = tt.load %from : tensor<32x32x!tt.ptr<f32>>
      %total = \"tt.reduce\"(%v) <{axis = 1 : i32}> ({
      ^bb0(%a: f32, %b: f32):
        %s = arith.addf %a, %b : f32
        tt.reduce.return %s : f32
      }) : (tensor<32x32xf32>) -> tensor<32xf32>
      %out = tt.splat %y : !tt.ptr<f32> -> tensor<32x!tt.ptr<f32>>
      %to = tt.addptr %out, %i : tensor<32x!tt.ptr<f32>>, tensor<32xi32>
      tt.store %to, %total : tensor<32x!tt.ptr<f32>>
      tt.return
    }";
    let assignment = chosen(&module(source), Strategy::LeastCost);
    let body = assignment.module.functions[0].body.as_ref().unwrap();
    let stored = all_values(body).into_iter().find(|value| body.value_name(*value) == Some("to")).unwrap();
    let layout = resolve_distributed_layout(body.value_type(stored), &NeutralFamilies).unwrap();
    assert_eq!(layout.in_bits(Dim::REGISTER), 0, "{}", assignment.report);
    assert_eq!(layout.columns_of(Dim::WARP), [8, 16], "{}", assignment.report);
}

/// Checks that a value whose lanes hold two adjacent elements, eight lanes distant rows and four a part of a row, is
/// stored by whole sectors: lanes exchange elements by shuffles, so that 32 bytes of a row go to one store.
#[test]
fn stores_of_parts_of_rows_swap_lanes() {
    const ACCUMULATOR: &str = "#ttg.linear<{register = [[0, 1], [8, 0], [0, 8]], \
         lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[0, 16], [16, 0]], block = []}>";
    let source = assigned::build_square_tile_program("%y = arith.addf %x, %x : tensor<32x32xf16>", "%y");
    let mut program = module(&source.replace("f32", "f16"));
    fix(&mut program, "x", ACCUMULATOR);
    let a100 = TargetDescription::from_toml("a100", include_str!("../../../../targets/a100.toml")).unwrap();
    let assignment = assign_layouts(&program, &config(&a100), Strategy::LeastCost).unwrap();
    let [conversion] = &assignment.report.functions[0].conversions[..] else { panic!("{}", assignment.report) };
    assert_eq!(conversion.path, Some(ConversionKind::Shuffle), "{}", assignment.report);
    let body = assignment.module.functions[0].body.as_ref().unwrap();
    let stored_to = all_values(body).into_iter().find(|value| body.value_name(*value) == Some("to")).unwrap();
    let layout = resolve_distributed_layout(body.value_type(stored_to), &NeutralFamilies).unwrap();
    // A lane stores four adjacent elements, and four lanes 16 of a row.
    let has = |dim, columns: [u64; 2]| columns.iter().all(|&column| layout.bases_of(dim).contains(&vec![0, column]));
    assert!(has(Dim::REGISTER, [1, 2]) && has(Dim::LANE, [4, 8]), "{}", assignment.report);
    let mut without = config(&a100);
    without.context = without.context.with_disabled([Optimization::StoreSwaps].into_iter().collect());
    let assignment = assign_layouts(&program, &without, Strategy::LeastCost).unwrap();
    assert!(assignment.report.functions[0].conversions.is_empty(), "{}", assignment.report);
}

/// Checks the latency of conversions. A conversion through shared memory waits for the store, the barrier and the load;
/// the cost difference between targets is the difference of these latencies, which the four warps share.
#[test]
fn what_a_conversion_waits_for_is_the_targets() {
    let mut program = module(&assigned::build_square_tile_program(
        "%y = arith.extf %x : tensor<32x32xf16> to tensor<32x32xf32>",
        "%y",
    ));
    fix(&mut program, "x", ROWS);
    fix(&mut program, "to", COLUMNS);
    let cost = |target: &TargetDescription| {
        let report = assign_layouts(&program, &config(target), Strategy::LeastCost).unwrap().report;
        assert_eq!(report.costly_conversions().map(|left| &left.value[..]).collect::<Vec<_>>(), ["%x"], "{report}");
        report.total_cost()
    };
    let usual = target();
    let mut slow = target();
    slow.costs.shared_store_wavefront.latency += 3.0;
    slow.costs.block_barrier.latency += 50.0;
    slow.costs.shared_load_wavefront.latency += 700.0;
    slow.costs.shuffle.latency += 6000.0;
    assert_eq!(cost(&slow) - cost(&usual), 753.0 / 4.0);
}

/// Checks that a program without conversions costs its accesses and its arithmetic, counted here by hand: a warp has
/// eight rows of 32 elements, each lane eight neighbours.
#[test]
fn what_is_not_converted_costs_its_accesses_and_instructions() {
    let mut program = module(&assigned::build_square_tile_program(
        "%y = arith.extf %x : tensor<32x32xf16> to tensor<32x32xf32>",
        "%y",
    ));
    fix(&mut program, "x", ROWS);
    fix(&mut program, "to", ROWS);
    let cost = chosen(&program, Strategy::LeastCost).report.total_cost();
    // An integer instruction takes half a cycle, since 64 lanes execute in one cycle. An access has two of them for its
    // address.
    let plain = 0.5;
    let access = 3.0 * plain;
    // A warp loads eight rows of 64 bytes, which are four lines of 128 bytes; each lane loads 16 bytes.
    let load = access + 4.0;
    // A warp stores eight rows of 128 bytes; a lane has 32 bytes, so each of its two accesses stores half of every
    // 32-byte sector. Stored sectors go at three times the unit's share of the memory bandwidth: 3352 GB/s at 1.83 GHz
    // for 132 units.
    let bytes_per_cycle = 3.0 * 3352.0 / 1.83 / 132.0;
    let store = 2.0 * (access + 8.0 * 128.0 / bytes_per_cycle);
    // A cast for each of eight elements.
    let casts = 8.0 * plain;
    // The offsets of each of the two pointers, rows times pitch plus columns: both operations take one instruction,
    // since the offsets of a lane are consecutive.
    let index_cost = 2.0 * (plain + plain);
    // The addresses of the load take one instruction likewise; those of the store, whose layout is explicit, take one
    // for each of eight elements.
    let addresses = plain + 8.0 * plain;
    let expected = load + store + casts + index_cost + addresses;
    assert!((cost - expected).abs() < 1e-9, "{cost} {expected}");
}

/// Checks that a value carried by a loop in one layout is converted within the loop for a user that requires another.
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
    let mut program = module(&assigned::build_square_tile_program(what, "%s"));
    for name in ["x", "y", "r", "next"] {
        fix(&mut program, name, ROWS);
    }
    fix(&mut program, "to", COLUMNS);
    for strategy in [Strategy::Propagation, Strategy::LeastCost] {
        let assignment = chosen(&program, strategy);
        let carried: Vec<_> = assignment.report.costly_conversions().filter(|left| left.value == "%acc").collect();
        assert_eq!(carried.len(), 1, "{}", assignment.report);
        assert_eq!((&carried[0].operation[..], carried[0].weight > 1.0), ("argument", true), "{}", assignment.report);
    }
}

/// Checks additions of many loads, alternating narrow and wide: each load prefers another layout, and none is converted
/// once they agree. Exhaustive comparison is impossible here.
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
    assert_eq!(followed.costly_conversions().count(), PAIRS, "{followed}");
    let least_cost = chosen(&program, Strategy::LeastCost).report;
    assert_eq!(least_cost.costly_conversions().count(), 0, "{least_cost}");
}

/// Checks that offsets that follow from a range are rematerialized in each required layout: one range per layout, no
/// conversion.
#[test]
fn indices_are_computed_once_for_each_layout() {
    let what = "%y = arith.extf %x : tensor<32x32xf16> to tensor<32x32xf32>";
    let index_cost = |to: &str| {
        let mut program = module(&assigned::build_square_tile_program(what, "%y"));
        fix(&mut program, "x", ROWS);
        fix(&mut program, "to", to);
        let assignment = chosen(&program, Strategy::LeastCost);
        let body = assignment.module.functions[0].body.as_ref().unwrap();
        let families = NeutralFamilies;
        let layouts = LayoutCache::new(&families);
        let offsets = all_values(body)
            .into_iter()
            .filter(|value| body.value_name(*value).is_some_and(|name| name.starts_with("offsets")));
        let mut offset_layouts: Vec<_> =
            offsets.map(|value| layouts.resolve_distributed(body.value_type(value)).unwrap()).collect();
        let all = offset_layouts.len();
        offset_layouts.dedup();
        assert_eq!(offset_layouts.len(), all, "each layout once");
        let converted: Vec<_> =
            assignment.report.functions[0].conversions.iter().map(|left| left.value.clone()).collect();
        (all, converted)
    };
    assert_eq!(index_cost(ROWS), (1, vec![]));
    assert_eq!(index_cost(COLUMNS), (2, vec!["%x".to_owned()]));
}

#[test]
fn a_layout_of_another_block_is_refused() {
    let mut program = module(&assigned::build_square_tile_program(
        "%y = arith.extf %x : tensor<32x32xf16> to tensor<32x32xf32>",
        "%y",
    ));
    fix(&mut program, "x", &ROWS.replace("warpsPerCTA = [4, 1]", "warpsPerCTA = [4294967296, 1]"));
    let target = target();
    let refused = assign_layouts(&program, &config(&target), Strategy::LeastCost).unwrap_err().to_string();
    assert!(refused.ends_with("has 4294967296 warps of 32 lanes, the program 4 of 32"), "{refused}");
}

/// Checks that a block size that the target does not support is rejected before any assignment.
#[test]
fn a_block_that_the_target_has_not_is_refused() {
    let program = module(&assigned::build_square_tile_program(
        "%y = arith.extf %x : tensor<32x32xf16> to tensor<32x32xf32>",
        "%y",
    ));
    let target = target();
    for (lanes, warps, expected) in [
        (1, 4, "target h100 has no warps of 1 lanes; it has [32]"),
        (32, 64, "target h100 has blocks of at most 1024 lanes, the layouts need 2048"),
        (32, 3, "module: the number of warps of a block must be a power of two"),
    ] {
        let config = LaunchConfig { lanes, warps, ..config(&target) };
        assert_eq!(assign_layouts(&program, &config, Strategy::LeastCost).unwrap_err().to_string(), expected);
    }
}

/// Checks that accesses of elements of 16 and of 64 bits each have the vectors that they prefer, 16 bytes of a lane,
/// and that lane shuffles convert between their layouts, instead of shared memory or narrow accesses.
#[test]
fn accesses_of_different_widths_trade_single_lane_bits() {
    let pointers = |name: &str, base: &str, element: &str| {
        format!(
            "%{name}_base = tt.splat %{base} : !tt.ptr<{element}> -> tensor<1024x!tt.ptr<{element}>>
    %{name} = tt.addptr %{name}_base, %i : tensor<1024x!tt.ptr<{element}>>, tensor<1024xi32>"
        )
    };
    let argument = |name: &str, element: &str| format!("%{name}: !tt.ptr<{element}> {{tt.divisibility = 16 : i32}}");
    let arguments = [("x", "i16"), ("y", "i16"), ("z", "i16"), ("w", "i64")].map(|(name, of)| argument(name, of));
    let program = module(&format!(
        "tt.func @widen({}) {{
    %i = tt.make_range {{start = 0 : i32, end = 1024 : i32}} : tensor<1024xi32>
    {}
    {}
    {}
    {}
    %a = tt.load %from_x : tensor<1024x!tt.ptr<i16>>
    %b = tt.load %from_y : tensor<1024x!tt.ptr<i16>>
    %sum = arith.addi %a, %b : tensor<1024xi16>
    tt.store %to_z, %sum : tensor<1024x!tt.ptr<i16>>
    %wide = arith.extsi %sum : tensor<1024xi16> to tensor<1024xi64>
    tt.store %to_w, %wide : tensor<1024x!tt.ptr<i64>>
    tt.return
  }}",
        arguments.join(", "),
        pointers("from_x", "x", "i16"),
        pointers("from_y", "y", "i16"),
        pointers("to_z", "z", "i16"),
        pointers("to_w", "w", "i64"),
    ));
    let mi300x = include_str!("../../../../targets/mi300x.toml");
    let target = TargetDescription::from_toml("mi300x", mi300x).unwrap();
    let wide_warps = LaunchConfig { lanes: 64, warps: 2, ..config(&target) };
    let chosen = assign_layouts(&program, &wide_warps, Strategy::LeastCost).unwrap().report;
    let [conversion] = &chosen.functions[0].conversions[..] else { panic!("{chosen}") };
    assert_eq!((&conversion.value[..], conversion.path), ("%sum", Some(ConversionKind::Shuffle)), "{chosen}");
    assert!(conversion.from.contains("sizePerThread = [8]"), "{chosen}");
    assert!(conversion.to.contains("register = [[1], ["), "{chosen}");
}
