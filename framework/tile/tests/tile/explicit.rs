//! Explicit-memory operations: their errors, and their expansion.

use tilewright_tile::op::Dialects;
use tilewright_tile::text::parse_module;
use tilewright_tile::transform::explicit::{
    ElementDistance, ExplicitMemoryChoices, ProducerChoice, ScaledOffsetTerm, TensorMapTileAddress,
    expand_explicit_memory, find_shared_copy_loops,
};
use tilewright_tile::transform::{make_partition_captures_explicit, resolve_captured_value, tile_group_count};
use tilewright_tile::{Attribute, Function, Op, TileType, ValueOrigin, verify_module};

/// The text of a program of these lines, which may use `%p` (pointer to `f16`), `%b` (pointer to bytes), integers `%k`
/// and `%m`, views and tensors.
fn program(lines: &str) -> String {
    format!(
        "!m = !ttg.memdesc<64x32xf16, #tw.auto, #ttg.shared_memory, mutable>
module {{
  tt.func public @f(%p: !tt.ptr<f16>, %b: !tt.ptr<i8>, %k: i32, %m: i32, %o: !tt.ptr<f16>) {{
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %g = tw.global_view %p, \"(64,32,?):(?,1,32)\" [%k] : !tt.ptr<f16> -> !tw.view<64x32x?xf16>
    %t = tw.slice %g[%m] : !tw.view<64x32x?xf16> -> !tw.view<64x32xf16>
    %s = tw.shared_tensor : !m
    %l = tw.register_tensor %m : tensor<16xi32>
{lines}
    tt.return
  }}
}}
"
    )
}

fn diagnose(lines: &str) -> String {
    let text = program(lines);
    match parse_module(&text, &Dialects::neutral()) {
        Ok(module) => verify_module(&module).map_or_else(|violation| violation.to_string(), |()| "nothing".to_owned()),
        Err(error) => error.to_string(),
    }
}

/// Three buffers that the program orders itself.
const RING: &str = "%x = tw.shared_tensor : !ttg.memdesc<3x64x32xf16, #tw.auto, #ttg.shared_memory, mutable>
    %y = ttg.memdesc_index %x[%k] : !ttg.memdesc<3x64x32xf16, #tw.auto, #ttg.shared_memory, mutable> -> \
    !ttg.memdesc<64x32xf16, #tw.auto, #ttg.shared_memory, mutable>";

#[test]
fn violations_are_reported() {
    let cases = [
        ("%x = tw.global_view %p, \"(64,32):(?,1)\" : !tt.ptr<f16> -> !tw.view<64x32xf16>", "0 strides are passed"),
        ("%x = tw.global_view %p, \"(64,16):(16,1)\" : !tt.ptr<f16> -> !tw.view<64x32xf16>", "another shape"),
        ("%x = tw.global_view %p, \"(64,32\" : !tt.ptr<f16> -> !tw.view<64x32xf16>", "expected `:`"),
        ("%x = tw.global_view %p, \"(64,32):(32,1)\" : !tt.ptr<f16> -> !tw.view<64x32xf32>", "expected these"),
        (
            "%q = tt.bitcast %p : !tt.ptr<f16> -> !tt.ptr<i4>
            %x = tw.global_view %q, \"(64,32):(32,1)\" : !tt.ptr<i4> -> !tw.view<64x32xi4>",
            "pass `!tt.ptr<i8>`",
        ),
        ("%x = tw.slice %g[%k, %m] : !tw.view<64x32x?xf16> -> !tw.view<64x32xf16>", "2 indices"),
        (
            "%x = tw.gather %g[%l] {axis = 3 : i32} : !tw.view<64x32x?xf16>, tensor<16xi32> -> !tw.view<16x32x?xf16>",
            "no such axis",
        ),
        (
            "%x = tw.gather %g[%l] {axis = 0 : i32} : !tw.view<64x32x?xf16>, tensor<16xi32> -> !tw.view<64x32x?xf16>",
            "16 coordinates",
        ),
        (
            "%x = tw.gather %g[%l] {axis = 0 : i32} : !tw.view<64x32x?xf16>, tensor<16xi32> -> !tw.view<16x32x?xf16>",
            "nothing",
        ),
        ("tw.copy %g to %s : (!tw.view<64x32x?xf16>, !m) -> ()", "slice them"),
        (
            "tw.copy %t to %t : (!tw.view<64x32xf16>, !tw.view<64x32xf16>) -> ()",
            "is copied to shared memory or registers",
        ),
        ("%x = tw.copy %s : (!m) -> tensor<32x64xf16>", "the same shape"),
        ("tw.copy %t to %s within [%k] : (!tw.view<64x32xf16>, !m, i32) -> ()", "1 bounds of 2 axes"),
        ("%x = tw.copy %s within [%k, %m] : (!m, i32, i32) -> tensor<64x32xf16>", "only what is in global memory"),
        ("%x = tw.copy %t to %s : (!tw.view<64x32xf16>, !m) -> tensor<64x32xf16>", "has no result"),
        ("%x = tw.shared_tensor {layout = \"(32,64):(64,1)\"} : !m", "not of the shape"),
        ("%x = tw.shared_tensor {stages = 0 : i32} : !m", "0 stages"),
        ("%x = tw.shared_tensor {stage = 2 : i32} : !m", "no attribute `stage`; did you mean `stages`?"),
        ("tw.copy %t to %s {pending} : (!tw.view<64x32xf16>, !m) -> ()", "no attribute `pending`"),
        ("tw.copy %t to %s {tw.pending} : (!tw.view<64x32xf16>, !m) -> ()", "nothing"),
        // A program may order three buffers, but their tiles have sizes that are powers of two.
        (RING, "nothing"),
        (&RING.replace("64x32", "32x48"), "the size 48 is not a power of two"),
        (&RING.lines().take(1).collect::<String>(), "only the first axis may be another"),
        ("tw.copy %t to %s : (!tw.view<64x32xf16>, !m) -> ()", "nothing"),
    ];
    for (lines, expected) in cases {
        let found = diagnose(lines);
        assert!(found.contains(expected), "{lines}: {found}");
    }
}

fn function(lines: &str) -> Function {
    let module = parse_module(&program(lines), &Dialects::neutral()).unwrap_or_else(|error| panic!("{error}"));
    verify_module(&module).unwrap_or_else(|violation| panic!("{violation}"));
    module.functions[0].clone()
}

fn in_a_loop(lines: &str) -> String {
    format!("scf.for %i = %c0 to %k step %c1 : i32 {{\n{lines}\n}}")
}

/// Copies can be prefetched if their source depends on the counter only, and the tensor is read after the copy in the
/// same iteration.
#[test]
fn copies_are_prefetched_unless_an_access_is_in_between() {
    let copy = "%ti = tw.slice %g[%i] : !tw.view<64x32x?xf16> -> !tw.view<64x32xf16>
        tw.copy %ti to %s : (!tw.view<64x32xf16>, !m) -> ()";
    let read = "%r = tw.copy %s : (!m) -> tensor<64x32xf16>";
    let rejected = |lines: &str| find_shared_copy_loops(&function(lines)).pop().expect("a loop that fills").rejected;
    assert_eq!(rejected(&in_a_loop(&format!("{copy}\n{read}"))), None);
    let before = rejected(&in_a_loop(&format!("{read}\n{copy}")));
    assert!(before.is_some_and(|reason| reason.contains("before it is filled")));
    let outside = rejected(&format!("{}\n{read}", in_a_loop(copy)));
    assert!(outside.is_some_and(|reason| reason.contains("outside")));
    let twice = rejected(&in_a_loop(&format!("{copy}\n{}", copy.replace("%ti", "%tj"))));
    assert!(twice.is_some_and(|reason| reason.contains("each element of a tensor once")));
}

/// The source of a copy may depend on a load, such as of a list of pages, unless the loop may write what it loads.
#[test]
fn copies_from_listed_pages_are_prefetched() {
    let load = "%pi = tt.addptr %q, %i : !tt.ptr<i32>, i32\n%page = tt.load %pi : !tt.ptr<i32>\n";
    let list = "%gq = tw.global_view %q, \"(1,?):(0,1)\" : !tt.ptr<i32> -> !tw.view<1x?xi32>
        %pi = tw.slice %gq[%i] : !tw.view<1x?xi32> -> !tw.view<1xi32>
        %listed = tw.copy %pi : (!tw.view<1xi32>) -> tensor<1xi32>
        %page = tt.unsplat %listed : tensor<1xi32>\n";
    let copy = "%ti = tw.slice %g[%page] : !tw.view<64x32x?xf16> -> !tw.view<64x32xf16>
        tw.copy %ti to %s : (!tw.view<64x32xf16>, !m) -> ()
        %r = tw.copy %s : (!m) -> tensor<64x32xf16>\n";
    let rejected = |lines: &str| {
        let lines = format!("%q = tt.bitcast %b : !tt.ptr<i8> -> !tt.ptr<i32>\n{}", in_a_loop(lines));
        find_shared_copy_loops(&function(&lines)).pop().expect("a loop that fills").rejected
    };
    let store_to = |pointer: &str, ty: &str| format!("tt.store {pointer}, %{ty} : !tt.ptr<{ty}>\n");
    let value = "%f16 = arith.constant 0.0 : f16\n%i32 = arith.constant 0 : i32\n";
    for loaded in [load, list] {
        assert_eq!(rejected(&format!("{loaded}{copy}")), None);
        // The list is loaded for each tile that is prefetched: before the loop and in it.
        let lines =
            format!("%q = tt.bitcast %b : !tt.ptr<i8> -> !tt.ptr<i32>\n{}", in_a_loop(&format!("{loaded}{copy}")));
        let function = function(&lines);
        let of = find_shared_copy_loops(&function).pop().expect("a loop that fills");
        let choices = ExplicitMemoryChoices::default().with_stages(of.op, 2);
        for choices in [choices.clone(), choices.with_single_buffer(&of)] {
            let expansion = expand_explicit_memory(&function, &choices, &Dialects::neutral());
            let expansion = expansion.unwrap_or_else(|violation| panic!("{violation}"));
            let body = expansion.function.body.as_ref().expect("a body");
            let is_list = |op: &Op| {
                body.op(*op).name() == "tt.load"
                    && *body.value_type(body.op(*op).results[0]).element() == TileType::integer(32)
            };
            let count = |ops: Vec<Op>| ops.iter().filter(|op| is_list(op)).count();
            let within = count(
                body.walk_region(body.root())
                    .into_iter()
                    .filter(|op| body.op(*op).name() == "scf.for")
                    .flat_map(|op| body.op_and_nested_ops(op))
                    .collect(),
            );
            assert!(within >= 1 && count(body.walk_region(body.root())) > within);
        }
        let elsewhere = store_to("%p", "f16");
        assert_eq!(rejected(&format!("{value}{loaded}{copy}{elsewhere}")), None);
        let reason = rejected(&format!("{value}{loaded}{copy}{}", store_to("%q", "i32")));
        assert!(reason.is_some_and(|reason| reason.contains("`tt.store` of the loop may write its elements")));
        let atomic = "%old = tt.atomic_rmw add, acq_rel, gpu, %q, %i : (!tt.ptr<i32>, i32) -> i32\n";
        let reason = rejected(&format!("{loaded}{copy}{atomic}"));
        assert!(reason.is_some_and(|reason| reason.contains("`tt.atomic_rmw` of the loop")));
    }
    let volatile = load.replace("%pi :", "%pi {isVolatile = true} :");
    assert!(rejected(&format!("{volatile}{copy}")).is_some_and(|reason| reason.contains("cannot be rematerialized")));
}

/// Copies of one iteration may fill the parts of a tensor, if they fill all of it before it is read.
#[test]
fn copies_that_fill_parts_of_a_tensor_are_prefetched() {
    let half = |begin: u32| {
        format!(
            "%h{begin} = ttg.memdesc_subslice %s[{begin}, 0] : !m -> !ttg.memdesc<32x32xf16, #tw.auto, \
             #ttg.shared_memory, mutable, 64x32>\n"
        )
    };
    let parts = half(0) + &half(32);
    let rows = "%rows = tw.global_view %p, \"(32,32,?):(32,1,1024)\" : !tt.ptr<f16> -> !tw.view<32x32x?xf16>\n";
    let slice = "%ti = tw.slice %rows[%i] : !tw.view<32x32x?xf16> -> !tw.view<32x32xf16>\n";
    let ty = "!ttg.memdesc<32x32xf16, #tw.auto, #ttg.shared_memory, mutable, 64x32>";
    let fill = |begin: u32| format!("tw.copy %ti to %h{begin} : (!tw.view<32x32xf16>, {ty}) -> ()\n");
    let read = |begin: u32| format!("%r{begin} = tw.copy %h{begin} : ({ty}) -> tensor<32x32xf16>\n");
    let rejected = |copies: &[String]| {
        let lines = format!("{rows}{parts}{}", in_a_loop(&(slice.to_owned() + &copies.concat())));
        find_shared_copy_loops(&function(&lines)).pop().expect("a loop that fills").rejected
    };
    assert_eq!(rejected(&[fill(0), fill(32), read(0), read(32)]), None);
    assert_eq!(rejected(&[fill(32), fill(0), read(0)]), None);
    let cases = [
        ([fill(0), read(0), fill(32)], "before it is filled"),
        ([fill(0), fill(0), read(0)], "each element of a tensor once"),
        ([fill(0), read(0), read(0).replace("%r0", "%r1")], "each element of a tensor once"),
    ];
    for (copies, expected) in cases {
        let reason = rejected(&copies);
        assert!(reason.as_ref().is_some_and(|reason| reason.contains(expected)), "{copies:?}: {reason:?}");
    }
}

/// Unsupported uses are reported when the operations are expanded.
#[test]
fn unsupported_programs_are_reported() {
    let narrow = "%n = tw.global_view %b, \"(64,32):(32,1)\" : !tt.ptr<i8> -> !tw.view<64x32xi1>
        %r = tw.copy %n : (!tw.view<64x32xi1>) -> tensor<64x32xi1>";
    let cases = [
        (format!("{narrow}\n%x = arith.xori %r, %r : tensor<64x32xi1>"), "may only be copied, sliced and cast"),
        (format!("{narrow}\ntw.copy %r to %n : (tensor<64x32xi1>, !tw.view<64x32xi1>) -> ()"), "not packed into bytes"),
        (format!("{narrow}\n%x = tw.cast %r : tensor<64x32xi1> -> tensor<64x32xi4>"), "not packed into `i4`"),
        (
            "%n = tw.global_view %b, \"(64,32):(2,64)\" : !tt.ptr<i8> -> !tw.view<64x32xi4>".to_owned(),
            "expected a stride of 1",
        ),
        (
            "%n = tw.global_view %b, \"(64,32):(1,64)\" : !tt.ptr<i8> -> !tw.view<64x32xi4>
            %x = tw.gather %n[%l] {axis = 0 : i32} : !tw.view<64x32xi4>, tensor<16xi32> -> !tw.view<16x32xi4>"
                .to_owned(),
            "share a byte",
        ),
        (
            "%h = tw.gather %g[%l] {axis = 0 : i32} : !tw.view<64x32x?xf16>, tensor<16xi32> -> !tw.view<16x32x?xf16>
            %x = tw.gather %h[%l] {axis = 0 : i32} : !tw.view<16x32x?xf16>, tensor<16xi32> -> !tw.view<16x32x?xf16>"
                .to_owned(),
            "listed already",
        ),
        (
            "%h = tw.gather %g[%l] {axis = 2 : i32} : !tw.view<64x32x?xf16>, tensor<16xi32> -> !tw.view<64x32x16xf16>
            %x = tw.slice %h[%k] : !tw.view<64x32x16xf16> -> !tw.view<64x32xf16>"
                .to_owned(),
            "with listed coordinates is sliced",
        ),
    ];
    for (lines, expected) in cases {
        let found = expand_explicit_memory(&function(&lines), &ExplicitMemoryChoices::default(), &Dialects::neutral());
        let found = found.map_or_else(|violation| violation.to_string(), |_| "nothing".to_owned());
        assert!(found.contains(expected), "{lines}: {found}");
    }
}

/// A loop with two stages (buffers) fills one buffer before the loop, and waits once per iteration.
#[test]
fn a_loop_of_stages_fills_buffers_before_it() {
    let lines = in_a_loop(
        "%ti = tw.slice %g[%i] : !tw.view<64x32x?xf16> -> !tw.view<64x32xf16>
        tw.copy %ti to %s : (!tw.view<64x32xf16>, !m) -> ()
        %r = tw.copy %s : (!m) -> tensor<64x32xf16>
        tw.copy %r to %ti : (tensor<64x32xf16>, !tw.view<64x32xf16>) -> ()",
    );
    let function = function(&lines);
    for stages in 1..=3u32 {
        let of = find_shared_copy_loops(&function).pop().expect("a loop that fills");
        let choices = ExplicitMemoryChoices::default().with_stages(of.op, stages);
        let expansion = expand_explicit_memory(&function, &choices, &Dialects::neutral())
            .unwrap_or_else(|violation| panic!("{violation}"));
        let body = expansion.function.body.as_ref().expect("a body");
        let count =
            |name: &str| body.walk_region(body.root()).into_iter().filter(|op| body.op(*op).name() == name).count();
        assert_eq!(count("ttg.async_copy_global_to_local"), stages as usize);
        // In the loop, and behind a pipelined one.
        assert_eq!(count("ttg.async_wait"), if stages > 1 { 2 } else { 1 });
        assert_eq!(count("ttg.barrier"), usize::from(stages > 1));
        // Each iteration allocates the tensor if no tile outlives it.
        let outermost = body.ops(body.blocks(body.root())[0]).iter();
        assert_eq!(outermost.filter(|op| body.op(**op).name() == "ttg.local_alloc").count(), usize::from(stages > 1));
        let (_, all) = expansion.tensors[0];
        let shape = body.value_type(all).shape().expect("a shape");
        assert_eq!(shape.len(), if stages > 1 { 3 } else { 2 });
        assert_eq!(shape[0], if stages > 1 { u64::from(stages) } else { 64 });
    }
}

/// An MMA whose accumulator has no use besides the next iteration may overlap with the start of that iteration:
/// it is asynchronous, with waits at the end of the next iteration and after the loop. The prefetch distance is one
/// less.
#[test]
fn a_loop_carried_accumulator_may_be_waited_for_in_the_next_iteration() {
    let looped = |mma: &str, given: &str| {
        format!(
            "%zero = arith.constant 0.000000e+00 : f32
    %empty = tw.register_tensor %zero : tensor<64x64xf32>
    %w = tw.register_tensor %half : tensor<32x64xf16>
    %acc = scf.for %i = %c0 to %k step %c1 iter_args(%sum = %empty) -> (tensor<64x64xf32>) : i32 {{
      %ti = tw.slice %g[%i] : !tw.view<64x32x?xf16> -> !tw.view<64x32xf16>
      tw.copy %ti to %s : (!tw.view<64x32xf16>, !m) -> ()
      %r = tw.copy %s : (!m) -> tensor<64x32xf16>
      %next = tw.mma %r, %w, {mma} : tensor<64x32xf16> * tensor<32x64xf16> -> tensor<64x64xf32>
      %other = arith.addf %next, %empty : tensor<64x64xf32>
      scf.yield {given} : tensor<64x64xf32>
    }}"
        )
    };
    let of = |text: &str| {
        let function = function(&format!("%half = arith.constant 1.000000e+00 : f16\n{text}"));
        let of = find_shared_copy_loops(&function).pop().expect("a loop that fills");
        (function, of)
    };
    // The MMA accumulates to another value than the loop-carried one, or the loop yields another value than the MMA's
    // result.
    for (accumulator, given) in [("%empty", "%next"), ("%sum", "%other")] {
        assert!(of(&looped(accumulator, given)).1.accumulator.is_empty(), "{accumulator} {given}");
    }
    let text = looped("%sum", "%next").replace("      %other = arith.addf %next, %empty : tensor<64x64xf32>\n", "");
    let (function, of) = of(&text);
    assert_eq!(of.accumulator.len(), 1);
    let expanded = |stages: u32| {
        let choices = ExplicitMemoryChoices::default().with_stages(of.op, stages).with_overlapped_mmas(of.op);
        expand_explicit_memory(&function, &choices, &Dialects::neutral())
    };
    let refused = expanded(2).expect_err("two buffers are too few").to_string();
    assert!(refused.contains("that takes three stages"), "{refused}");
    for stages in [3, 4] {
        let expansion = expanded(stages).unwrap_or_else(|violation| panic!("{violation}"));
        let body = expansion.function.body.as_ref().expect("a body");
        let all = body.walk_region(body.root());
        let named = |name: &str| all.iter().copied().filter(|op| body.op(*op).name() == name).collect::<Vec<_>>();
        let [dot] = named("tt.dot")[..] else { panic!("one product") };
        assert!(body.op(dot).attributes.get("tw.pending").is_some());
        let number = |op| body.op(op).attributes.get("outstanding").and_then(Attribute::as_integer);
        let waits: Vec<_> = named("tw.mma_wait").into_iter().map(number).collect();
        assert_eq!(waits, [Some(1), Some(0)]);
        // The prologue has one prefetch for each of the `stages - 2` iterations of the prefetch distance, and the loop
        // body one.
        assert_eq!(named("ttg.async_copy_global_to_local").len(), stages as usize - 2 + 1);
    }
}

/// Bulk tensor copies by a producer warp: both partitions have the loop. The consumers wait for bytes and signal what
/// they have read; the producer waits for that signal and issues copies. Captures can be made explicit.
#[test]
fn a_producer_warp_issues_tensor_copies() {
    let lines = in_a_loop(
        "%ti = tw.slice %g[%i] : !tw.view<64x32x?xf16> -> !tw.view<64x32xf16>
        tw.copy %ti to %s : (!tw.view<64x32xf16>, !m) -> ()
        %r = tw.copy %s : (!m) -> tensor<64x32xf16>
        tw.copy %r to %ti : (tensor<64x32xf16>, !tw.view<64x32xf16>) -> ()",
    );
    let function = function(&lines);
    let body = function.body.as_ref().expect("a body");
    let of = find_shared_copy_loops(&function).pop().expect("a loop that fills");
    let base = body.arguments(body.blocks(body.root())[0])[0];
    let counter = body.arguments(body.blocks(body.op(of.op).regions[0])[0])[0];
    let strides = [32, 1].map(ElementDistance::Number).to_vec();
    let begins = vec![vec![], vec![ScaledOffsetTerm::multiple(counter, 32)]];
    let warps = ProducerChoice { consumers: 4, groups: 1, registers: Some([232, 24]) };
    let lanes = ExplicitMemoryChoices::default().with_stages(of.op, 3).with_producer(of.op, warps);
    let choices = lanes.clone().with_tensor_copy(of.copies[0], TensorMapTileAddress { base, strides, begins });
    let expansion = expand_explicit_memory(&function, &choices, &Dialects::neutral())
        .unwrap_or_else(|violation| panic!("{violation}"));
    let function = make_partition_captures_explicit(&expansion.function);
    let body = function.body.as_ref().expect("a body");
    let all = body.walk_region(body.root());
    let [groups] =
        all.iter().copied().filter(|op| body.op(*op).name() == "ttg.warp_specialize").collect::<Vec<_>>()[..]
    else {
        panic!("one place where warps part")
    };
    let [consumers, producer] = body.op(groups).regions[..] else { panic!("two groups") };
    let names = |region| {
        let ops = body.walk_region(region).into_iter().map(|op| body.op(op).name().to_owned());
        ops.filter(|name| name.starts_with("tw.") || name == "ttg.barrier").collect::<Vec<_>>()
    };
    assert_eq!(names(consumers), ["tw.mbarrier_wait", "tw.mbarrier_arrive"]);
    assert_eq!(names(producer), ["tw.mbarrier_wait", "tw.mbarrier_expect", "tw.bulk_tensor_load"]);
    // Three buffers: each is full after one arrival, and empty after an arrival of each of four warps.
    let inits = all.iter().filter(|op| body.op(**op).name() == "tw.mbarrier_init");
    let counts = inits.map(|op| body.op(*op).attributes.get("count").and_then(Attribute::as_integer));
    assert_eq!(counts.collect::<Vec<_>>(), [[Some(1); 3], [Some(4); 3]].concat());
    // The producer's region uses only its arguments, which match the operands in number and types.
    let entry = body.blocks(producer)[0];
    let given: Vec<_> = body.op(groups).operands.iter().map(|value| body.value_type(*value).to_string()).collect();
    let taken: Vec<_> = body.arguments(entry).iter().map(|value| body.value_type(*value).to_string()).collect();
    assert_eq!(given, taken);
    let inside = body.walk_region(producer);
    let load = inside.iter().find(|op| body.op(**op).name() == "tw.bulk_tensor_load").expect("a copy");
    let map = body.operand(*load, "desc").expect("a map");
    assert!(body.arguments(entry).contains(&map), "it is taken from outside");
    let outer_map = resolve_captured_value(body, map);
    assert!(
        matches!(body.value_origin(outer_map), ValueOrigin::Result(op, _) if body.op(op).name() == "tw.derived_tensor_map")
    );
    // A loop with other copies has no producer warp.
    let original = self::function(&lines);
    let refused =
        expand_explicit_memory(&original, &lanes, &Dialects::neutral()).expect_err("nothing but boxes").to_string();
    assert!(refused.contains("a producer warp issues bulk tensor copies"), "{refused}");
}

/// Two groups of consumer warps that alternate between the iterations of the loop around a loop with a producer warp:
/// each waits at its mbarrier before the inner loop, and arrives at the mbarrier of the other group behind it.
#[test]
fn groups_of_consumers_alternate_between_tiles() {
    let lines = in_a_loop(
        "%ti = tw.slice %g[%i] : !tw.view<64x32x?xf16> -> !tw.view<64x32xf16>
        tw.copy %ti to %s : (!tw.view<64x32xf16>, !m) -> ()
        %r = tw.copy %s : (!m) -> tensor<64x32xf16>
        %go = tw.global_view %o, \"(64,32):(32,1)\" : !tt.ptr<f16> -> !tw.view<64x32xf16>
        tw.copy %r to %go : (tensor<64x32xf16>, !tw.view<64x32xf16>) -> ()",
    );
    let lines = format!("scf.for %tile = %c0 to %k step %c1 : i32 {{\n{lines}\n}}");
    let function = function(&lines);
    let body = function.body.as_ref().expect("a body");
    let of = find_shared_copy_loops(&function).pop().expect("a loop that fills");
    assert_eq!(of.check_tile_groups(&function), Ok(()));
    let base = body.arguments(body.blocks(body.root())[0])[0];
    let counter = body.arguments(body.blocks(body.op(of.op).regions[0])[0])[0];
    let strides = [32, 1].map(ElementDistance::Number).to_vec();
    let begins = vec![vec![], vec![ScaledOffsetTerm::multiple(counter, 32)]];
    let warps = ProducerChoice { consumers: 4, groups: 2, registers: Some([232, 24]) };
    let choices = ExplicitMemoryChoices::default().with_stages(of.op, 3).with_producer(of.op, warps);
    let choices = choices.with_tensor_copy(of.copies[0], TensorMapTileAddress { base, strides, begins });
    let expansion = expand_explicit_memory(&function, &choices, &Dialects::neutral());
    let function = expansion.unwrap_or_else(|violation| panic!("{violation}")).function;
    let body = function.body.as_ref().expect("a body");
    let all = body.walk_region(body.root());
    let [partitions] =
        all.iter().copied().filter(|op| body.op(*op).name() == "ttg.warp_specialize").collect::<Vec<_>>()[..]
    else {
        panic!("one place where warps part")
    };
    let numbers = |name: &str| match body.op(partitions).attributes.get(name) {
        Some(Attribute::Array(_, numbers)) => numbers.clone(),
        _ => Vec::new(),
    };
    assert_eq!((numbers("partitionNumWarps"), numbers("actualRegisters")), (vec![4, 1], vec![232, 232, 24]));
    // Three buffers, each read by the four warps of one group, and an mbarrier that orders the loops of each group.
    let inits = all.iter().filter(|op| body.op(**op).name() == "tw.mbarrier_init");
    let counts = inits.map(|op| body.op(*op).attributes.get("count").and_then(Attribute::as_integer));
    assert_eq!(counts.collect::<Vec<_>>(), [&[Some(1); 3][..], &[Some(4); 3], &[Some(4); 2]].concat());
    for (group, region) in body.op(partitions).regions[..2].iter().enumerate() {
        let inside = body.walk_region(*region);
        let ops: Vec<Op> = inside.iter().copied().filter(|op| body.op(*op).name().starts_with("tw.mbarrier")).collect();
        let names: Vec<&str> = ops.iter().map(|op| body.op(*op).name()).collect();
        assert_eq!(names, ["tw.mbarrier_wait", "tw.mbarrier_wait", "tw.mbarrier_arrive", "tw.mbarrier_arrive"]);
        // The index of the group whose loop may begin: the first wait is before the inner loop, the last arrival behind it.
        let ordered = |op: Op| match body.value_origin(body.operand(op, "mbarrier").expect("an mbarrier")) {
            ValueOrigin::Result(view, _) => body.constant_integer(body.op(view).operands[1]),
            ValueOrigin::Argument(..) => None,
        };
        assert_eq!((ordered(ops[0]), ordered(ops[3])), (Some(group as i64), Some(1 - group as i64)));
        let loops: Vec<u32> = inside.iter().map(|op| tile_group_count(body, *op)).filter(|count| *count > 1).collect();
        assert_eq!(loops, [2], "the loop over tiles");
    }
}
