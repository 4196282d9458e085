//! Software-pipelined loops: loads are prefetched by `cp.async` and through registers.

use crate::prelude::*;
use std::path::Path;

use tilewright_vendor_testkit::copied_program::print_kernel;
use tilewright_vendor_testkit::programs::program_kernel;
use tilewright_vendor_testkit::staged_program;
use tilewright_vendor_testkit::staged_program::{PipelinedLoopProgram, TileAddressSource};

/// The tested loop: each lane loads four adjacent elements of a row, and reads a column.
const PROGRAM: PipelinedLoopProgram = PipelinedLoopProgram::new(
    "#ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>",
    "#ttg.blocked<{sizePerThread = [8, 1], threadsPerWarp = [1, 32], warpsPerCTA = [4, 1], order = [0, 1]}>",
    32,
);

fn check(name: &str, text: &str) {
    golden::check(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name), text);
}

/// Checks that the tile is copied by `cp.async` two iterations ahead, and that the loop-carried pointers that only the
/// load uses are advanced with it.
#[test]
fn a_loop_with_prefetched_loads() {
    let compiled = PROGRAM.compiled(&target("a100"), Some(3));
    check("staged_loop.ttgir", &compiled.text);
    let line = compiled.line();
    assert_eq!((line.stages, line.bytes, compiled.conversions), (3, 3 * 4096, 0));
    let load = compiled.prefetched_loads()[0];
    assert!(load.by.as_ref().unwrap().starts_with("copied by cp.async.cg.shared.global.16"), "{load:?}");
    assert_eq!(load.conflicts, 0);
    let kernel = compiled.kernel_text();
    assert_eq!(
        kernel.matches("instruction \"cp.async").count(),
        3 * 2,
        "two rows of a lane, in three places\n{kernel}"
    );
    assert!(kernel.contains("wait copies 1") || kernel.contains("wait copies keep 1"), "{kernel}");
}

/// Checks that an iteration has one barrier, and no plain store to shared memory.
#[test]
fn an_iteration_has_one_barrier() {
    let counts = |stages: u32, iterations: usize| {
        let compiled = PROGRAM.compiled(&target("a100"), Some(stages));
        PROGRAM.run(&target("a100"), &compiled.kernel, iterations, 32).unwrap()
    };
    for (stages, one_iteration) in [(1, 2), (2, 1), (3, 1)] {
        let [fewer, more] = [counts(stages, 3), counts(stages, 7)];
        assert_eq!(more.barriers - fewer.barriers, 4 * one_iteration, "{stages} stages");
    }
    let [before, after] = [counts(1, 7), counts(3, 7)];
    assert_eq!(after.wavefronts_loaded, before.wavefronts_loaded);
    assert_eq!((before.asynchronous_copies, after.asynchronous_copies), (0, 14));
}

#[test]
fn pipelining_preserves_results() {
    let masked = |other| PipelinedLoopProgram { other: Some(other), ..PROGRAM };
    for program in [
        PROGRAM,
        PipelinedLoopProgram { from: TileAddressSource::Counter, ..PROGRAM },
        PipelinedLoopProgram { from: TileAddressSource::Loaded, ..PROGRAM },
        PipelinedLoopProgram { from: TileAddressSource::Quotient, ..PROGRAM },
        PipelinedLoopProgram { two: true, ..PROGRAM },
        PipelinedLoopProgram { two: true, from: TileAddressSource::Counter, ..masked(0) },
        masked(0),
        masked(7),
        PipelinedLoopProgram { two: true, ..masked(7) },
        PipelinedLoopProgram { twice: true, ..PROGRAM },
        PipelinedLoopProgram { elementwise: true, ..PROGRAM },
        PipelinedLoopProgram { elementwise: true, two: true, from: TileAddressSource::Counter, ..PROGRAM },
        PipelinedLoopProgram { stores: Some("y"), ..PROGRAM },
        PipelinedLoopProgram { iterations: Some(2), ..PROGRAM },
        PipelinedLoopProgram { begin: -3, step: 5, from: TileAddressSource::Counter, ..PROGRAM },
        // After the last iteration the counter overflows.
        PipelinedLoopProgram {
            begin: i32::MAX - 13,
            step: 2,
            short: 1,
            two: true,
            from: TileAddressSource::Counter,
            ..PROGRAM
        },
    ] {
        program.check(&target("a100"));
    }
}

/// Checks that a tile that is transposed after its load is still copied asynchronously.
#[test]
fn what_is_turned_round_is_copied() {
    let turned =
        "#ttg.blocked<{sizePerThread = [4, 1], threadsPerWarp = [8, 4], warpsPerCTA = [1, 4], order = [0, 1]}>";
    let program = PipelinedLoopProgram { turned: Some(turned), ..PROGRAM };
    program.check(&target("a100"));
    let compiled = program.compiled(&target("a100"), Some(3));
    let load = compiled.prefetched_loads()[0];
    assert!(load.by.as_ref().unwrap().starts_with("copied by cp.async.cg.shared.global.16"), "{load:?}");
    assert_eq!(compiled.kernel_text().matches("instruction \"cp.async").count(), 3 * 2, "{}", compiled.text);
}

/// Checks that loads for which `cp.async` is unsuitable, and values computed from loads, go through registers into one
/// of two buffers.
#[test]
fn loads_without_async_copies_use_registers() {
    let filled = PipelinedLoopProgram { other: Some(7), ..PROGRAM };
    let elementwise = PipelinedLoopProgram { elementwise: true, ..PROGRAM };
    for program in [filled, elementwise] {
        let compiled = program.compiled(&target("a100"), Some(4));
        let load = compiled.prefetched_loads()[0];
        assert!(load.by.as_ref().unwrap().starts_with("by registers"), "{load:?}");
        assert_eq!((compiled.line().stages, compiled.line().bytes, compiled.conversions), (2, 2 * 4096, 0));
        let barriers = |iterations| program.run(&target("a100"), &compiled.kernel, iterations, 32).unwrap().barriers;
        assert_eq!(barriers(7) - barriers(3), 4, "{}", compiled.text);
    }
    let copied = PipelinedLoopProgram { other: Some(0), ..PROGRAM }.compiled(&target("a100"), Some(3));
    assert!(copied.prefetched_loads()[0].by.as_ref().unwrap().starts_with("copied"), "{:?}", copied.line());
    // One of two tiles is copied, the other is computed from loads.
    let both = PipelinedLoopProgram { elementwise: true, two: true, ..PROGRAM }.compiled(&target("a100"), Some(3));
    let instructions: Vec<&str> = both.prefetched_loads().iter().map(|load| &load.by.as_ref().unwrap()[..2]).collect();
    assert_eq!((instructions, both.line().bytes), (vec!["by", "co"], (2 + 3) * 4096), "{:?}", both.line());
}

/// Checks that a tile whose address follows from a loaded number is copied two iterations ahead, and that the number is
/// loaded only for iterations that the loop has: the list has eight elements.
#[test]
fn a_tile_from_a_list_is_copied() {
    let program = PipelinedLoopProgram { from: TileAddressSource::Loaded, ..PROGRAM };
    let compiled = program.compiled(&target("a100"), Some(3));
    let load = compiled.prefetched_loads()[0];
    assert!(load.by.as_ref().unwrap().starts_with("copied by cp.async.cg.shared.global.16"), "{load:?}");
    for iterations in [1, 2, 7, 8] {
        program.run(&target("a100"), &compiled.kernel, iterations, 32).unwrap();
    }
}

#[test]
fn unprefetchable_loads_stay_with_a_reason() {
    for (program, reason) in [
        (
            PipelinedLoopProgram { from: TileAddressSource::Quotient, ..PROGRAM },
            "`arith.divsi` by a value that may be zero",
        ),
        (PipelinedLoopProgram { twice: true, ..PROGRAM }, "more than once"),
        (PipelinedLoopProgram { stores: Some("x"), ..PROGRAM }, "a `tt.store` of the loop writes"),
        (PipelinedLoopProgram { iterations: Some(1), ..PROGRAM }, "one iteration at most"),
        (PipelinedLoopProgram { num_stages: Some(1), ..PROGRAM }, "one stage is requested"),
    ] {
        let compiled = program.compiled(&target("a100"), None);
        assert!(compiled.prefetched_loads().is_empty(), "{program:?}\n{}", compiled.text);
        assert_eq!(compiled.line().stages, 1);
        assert!(compiled.reasons().contains(reason), "{}: {reason}", compiled.reasons());
        assert!(compiled.conversions > 0 && !compiled.text.contains("ttg.local_alloc"), "{}", compiled.text);
    }
}

/// Checks that loads are prefetched across a store through another parameter, which each iteration keeps.
#[test]
fn loads_are_prefetched_across_stores_through_another_parameter() {
    let compiled = PipelinedLoopProgram { stores: Some("y"), ..PROGRAM }.compiled(&target("a100"), Some(3));
    let load = compiled.prefetched_loads()[0];
    assert!(load.by.as_ref().unwrap().starts_with("copied by cp.async.cg.shared.global.16"), "{load:?}");
    let body = compiled.text.split("scf.for").nth(1).unwrap().split("scf.yield").next().unwrap();
    assert_eq!(body.matches("tt.store").count(), 1, "{}", compiled.text);
}

#[test]
fn stages_are_as_requested_within_iterations_and_memory() {
    let stages = |program: PipelinedLoopProgram, requested| program.compiled(&target("a100"), requested).line().stages;
    assert_eq!(stages(PROGRAM, Some(1)), 1);
    assert_eq!(stages(PROGRAM, Some(4)), 4);
    assert_eq!(stages(PipelinedLoopProgram { num_stages: Some(4), ..PROGRAM }, None), 4);
    assert_eq!(stages(PipelinedLoopProgram { num_stages: Some(4), ..PROGRAM }, Some(2)), 2);
    let few = PipelinedLoopProgram { iterations: Some(2), ..PROGRAM }.compiled(&target("a100"), Some(4));
    assert_eq!((few.line().stages, few.line().note.as_deref()), (2, Some("the loop has 2 iterations")));
    let many = PROGRAM.compiled(&target("a100"), Some(60));
    let room = u64::from(tilewright_plugin::Target::description(&target("a100")).shared.bytes);
    assert_eq!(u64::from(many.line().stages), room / 4096);
    assert!(many.line().note.as_ref().unwrap().contains("60 stages take"), "{:?}", many.line());
}

/// Checks the choice of stages that nothing states: no number that a launch can state is predicted to be faster, and
/// the report has other numbers that are not.
#[test]
fn unstated_stages_have_the_least_predicted_time() {
    let long = PipelinedLoopProgram { begin: 0, iterations: Some(8), ..PROGRAM };
    for program in [PROGRAM, long, PipelinedLoopProgram { two: true, ..PROGRAM }] {
        let compiled = |stages| program.compiled(&target("a100"), stages);
        let (chosen, stated) = (compiled(None), (1..=8).map(|stages| compiled(Some(stages)).cycles.unwrap()));
        let (cycles, stated) = (chosen.cycles.unwrap(), stated.collect::<Vec<f64>>());
        assert!(stated.iter().all(|other| cycles <= *other), "{cycles} of {stated:?}");
        let others = chosen.alternatives.iter().filter_map(|other| other.prediction.as_ref());
        let others: Vec<f64> = others.map(|prediction| prediction.cycles).collect();
        assert!(!others.is_empty() && others.iter().all(|other| *other >= cycles), "{:?}", chosen.alternatives);
        assert!(compiled(Some(3)).alternatives.is_empty());
    }
}

#[test]
fn a_dot_in_stages() {
    staged_program::check_stages_table(&target("a100"), &[1, 2, 3]);
}

/// Number of columns of A and rows of B in the program of [`operands_in_registers`].
const DEPTH: usize = 96;

/// A matmul of 64 x 96 by 96 x 32, 16 columns of A in each of `%n` iterations. Operands are loaded in the
/// layouts that the MMA takes, so that they do not pass through shared memory.
fn operands_in_registers() -> String {
    let tile =
        |name, rows, columns, pitch, layout| TileAddressText { name, rows, columns, pitch, layout: Some(layout) };
    let (a, b) = (tile("_a", 64, 16, DEPTH as u64, "#a"), tile("_b", 16, 32, 32, "#b"));
    let c = tile("_c", 64, 32, 32, "#mma");
    let addresses = [(a, "first_a", "x", "f16"), (b, "first_b", "y", "f16"), (c, "to", "z", "f32")]
        .map(|(tile, to, from, element)| tile.offsets() + &tile.addresses(to, from, element))
        .concat();
    format!(
        "#mma = #ttg.nvidia_mma<{{versionMajor = 2, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 8]}}>
#a = #ttg.dot_op<{{opIdx = 0, parent = #mma, kWidth = 2}}>
#b = #ttg.dot_op<{{opIdx = 1, parent = #mma, kWidth = 2}}>
module attributes {{\"ttg.num-ctas\" = 1 : i32, \"ttg.num-warps\" = 4 : i32, \"ttg.threads-per-warp\" = 32 : i32}} {{
  tt.func public @product(%x: !tt.ptr<f16> {{tt.divisibility = 16 : i32}}, %y: !tt.ptr<f16> {{tt.divisibility = 16 : i32}}, %z: !tt.ptr<f32> {{tt.divisibility = 16 : i32}}, %n: i32) {{
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %none = arith.constant dense<0.0> : tensor<64x32xf32, #mma>
    %steps_a = arith.constant dense<16> : tensor<64x16xi32, #a>
    %steps_b = arith.constant dense<512> : tensor<16x32xi32, #b>
    {addresses}
    %done:3 = scf.for %k = %zero to %n step %one iter_args(%pa = %first_a, %pb = %first_b, %acc = %none) -> (tensor<64x16x!tt.ptr<f16>, #a>, tensor<16x32x!tt.ptr<f16>, #b>, tensor<64x32xf32, #mma>) : i32 {{
      %ta = tt.load %pa : tensor<64x16x!tt.ptr<f16>, #a>
      %tb = tt.load %pb : tensor<16x32x!tt.ptr<f16>, #b>
      %next = tt.dot %ta, %tb, %acc : tensor<64x16xf16, #a> * tensor<16x32xf16, #b> -> tensor<64x32xf32, #mma>
      %next_a = tt.addptr %pa, %steps_a : tensor<64x16x!tt.ptr<f16>, #a>, tensor<64x16xi32, #a>
      %next_b = tt.addptr %pb, %steps_b : tensor<16x32x!tt.ptr<f16>, #b>, tensor<16x32xi32, #b>
      scf.yield %next_a, %next_b, %next : tensor<64x16x!tt.ptr<f16>, #a>, tensor<16x32x!tt.ptr<f16>, #b>, tensor<64x32xf32, #mma>
    }}
    tt.store %to, %done#2 : tensor<64x32x!tt.ptr<f32>, #mma>
    tt.return
  }}
}}
"
    )
}

/// Checks that operands that do not pass through shared memory are loaded one iteration ahead, into registers that the
/// loop carries, without a barrier. If one stage is requested, they are not. With three stages, the operand whose loads
/// are as wide as copies is copied two iterations ahead.
#[test]
fn operands_in_registers_are_prefetched() {
    let number = |index: usize| (index * 5 + index / 7) as i32 % 7 - 3;
    let f16 = |number: i32| {
        let bits: u16 = [0, 0x3c00, 0x4000, 0x4200][number.unsigned_abs() as usize];
        if number < 0 { bits | 0x8000 } else { bits }
    };
    let matrix = |elements: usize| {
        let bytes = (0..elements).flat_map(|index| f16(number(index)).to_le_bytes()).collect();
        InitialBuffer::Bytes(bytes)
    };
    let buffers = [matrix(64 * DEPTH), matrix(DEPTH * 32), InitialBuffer::Empty(64 * 32 * 4)];
    for stages in [1, 2, 3] {
        let (mut lines, options) = (Vec::new(), ProgramOptions::default().with_stages(Some(stages)));
        let kernel = compiler(&target("a100")).compile_kernel(&operands_in_registers(), &options, &mut |stage| {
            if let CompilationStageOutput::Layouts(assigned) = stage {
                tilewright_tile::verify_transformed_module(&assigned.module).unwrap_or_else(|error| panic!("{error}"));
                lines.clone_from(&assigned.report.functions[0].loops);
            }
        });
        let kernel = kernel.unwrap_or_else(|error| panic!("{error}"));
        let count = |text: &str| {
            lines[0].loads.iter().filter(|load| load.by.as_ref().is_some_and(|by| by.contains(text))).count()
        };
        let prefetched = (count("registers of a lane"), count("copied by cp.async"));
        assert_eq!(prefetched, [(0, 0), (2, 0), (1, 1)][stages as usize - 1], "{}", lines[0]);
        for iterations in [0, 1, 2, 6] {
            let (left, report) = run_block(&target("a100"), &kernel, &buffers, &[iterations as u64])
                .unwrap_or_else(|fault| panic!("{stages} stages, {iterations} iterations: {fault}"));
            assert_eq!(report.counts.barriers > 0, stages > 2 && iterations > 0, "{stages} stages");
            for index in 0..64 * 32 {
                let (row, column) = (index / 32, index % 32);
                let products = (0..16 * iterations).map(|k| number(row * DEPTH + k) * number(k * 32 + column));
                let found = f32::from_le_bytes([0, 1, 2, 3].map(|byte| left[2][4 * index + byte]));
                assert_eq!(found, products.sum::<i32>() as f32, "element {index}, {iterations} iterations");
            }
        }
    }
}

/// Returns a matrix product whose loop follows the operations `before`.
fn product_after(before: &str) -> String {
    let (tile, pointers) = ("tensor<64x64xf16>", "tensor<64x64x!tt.ptr<f16>>");
    format!(
        "module {{
  tt.func public @k(%a: !tt.ptr<f16> {{tt.divisibility = 16 : i32}}, %b: !tt.ptr<f16> {{tt.divisibility = 16 : i32}}, \
         %c: !tt.ptr<f16> {{tt.divisibility = 16 : i32}}, %n: i32 {{tt.divisibility = 16 : i32}}, %m: i1) {{
    %zero = arith.constant 0 : i32
    %step = arith.constant 64 : i32
    %zeros = arith.constant dense<0.000000e+00> : tensor<64x64xf32>
    {before}
    %i = tt.make_range {{end = 64 : i32, start = 0 : i32}} : tensor<64xi32>
    %column = tt.expand_dims %i {{axis = 1 : i32}} : tensor<64xi32> -> tensor<64x1xi32>
    %row = tt.expand_dims %i {{axis = 0 : i32}} : tensor<64xi32> -> tensor<1x64xi32>
    %pitch = tt.splat %n : i32 -> tensor<64x1xi32>
    %starts = arith.muli %column, %pitch : tensor<64x1xi32>
    %down = tt.broadcast %starts : tensor<64x1xi32> -> tensor<64x64xi32>
    %across = tt.broadcast %row : tensor<1x64xi32> -> tensor<64x64xi32>
    %offsets = arith.addi %down, %across : tensor<64x64xi32>
    %as = tt.splat %a : !tt.ptr<f16> -> {pointers}
    %bs = tt.splat %b : !tt.ptr<f16> -> {pointers}
    %cs = tt.splat %c : !tt.ptr<f16> -> {pointers}
    %ci = tt.addptr %cs, %offsets : {pointers}, tensor<64x64xi32>
    %done = scf.for %k = %zero to %n step %step iter_args(%acc = %zeros) -> (tensor<64x64xf32>) : i32 {{
      %moves = tt.splat %k : i32 -> tensor<64x64xi32>
      %moved = arith.addi %offsets, %moves : tensor<64x64xi32>
      %ai = tt.addptr %as, %moved : {pointers}, tensor<64x64xi32>
      %bi = tt.addptr %bs, %moved : {pointers}, tensor<64x64xi32>
      %x = tt.load %ai : {pointers}
      %y = tt.load %bi : {pointers}
      %next = tt.dot %x, %y, %acc, inputPrecision = tf32 : {tile} * {tile} -> tensor<64x64xf32>
      scf.yield %next : tensor<64x64xf32>
    }}
    %result = arith.truncf %done : tensor<64x64xf32> to {tile}
    tt.store %ci, %result : {pointers}
    tt.return
  }}
}}"
    )
}

/// Checks that bytes of B that are adjacent along N, which `wgmma` reads along K, are stored as words of four bytes along
/// K: a lane loads four rows, whose bytes it packs.
#[test]
fn bytes_across_k_are_stored_in_words() {
    let operands = ["%as =", "%bs =", "%ai =", "%bi =", "%x =", "%y =", "%next ="];
    let narrow = |line: &str| match operands.iter().any(|name| line.trim_start().starts_with(name)) {
        true => line.replace("f16", "f8E4M3FN"),
        false => line
            .replace("%a: !tt.ptr<f16>", "%a: !tt.ptr<f8E4M3FN>")
            .replace("%b: !tt.ptr<f16>", "%b: !tt.ptr<f8E4M3FN>"),
    };
    let program: Vec<String> = product_after("").lines().map(narrow).collect();
    let kernel = print_kernel(&program_kernel(&target("h100"), &program.join("\n")).unwrap());
    assert!(kernel.contains("wgmma"), "{kernel}");
    let stores: Vec<&str> = kernel.lines().filter(|line| line.trim_start().starts_with("store ")).collect();
    assert!(stores.iter().any(|store| store.contains("align 4")), "{stores:?}");
    assert!(!stores.iter().any(|store| store.ends_with("align 1")), "{stores:?}");
}

/// Checks that the layouts of a loop after an early return are those of the loop alone.
#[test]
fn a_loop_after_an_early_return_is_copied_as_before() {
    let copies = |before: &str| {
        let kernel = program_kernel(&target("a100"), &product_after(before)).unwrap();
        print_kernel(&kernel).matches("instruction \"cp.async.cg.shared.global.16").count()
    };
    let alone = copies("");
    assert!(alone > 0);
    assert_eq!(copies("cf.cond_br %m, ^bb1, ^bb2\n  ^bb1:\n    tt.return\n  ^bb2:"), alone);
}

/// Checks that a tile that two dots read, as it is and transposed, is copied to one buffer that both read: by `ldmatrix`
/// with and without transposition, or in place by `wgmma`. The only stores are those of the results, of 8 bytes.
#[test]
fn a_tile_with_two_readers_is_copied_once() {
    let program = std::fs::read_to_string("../../conformance/kernels/grams.ttir").unwrap();
    let readers = |name, count| match name {
        "a100" => [("m8n8.x4.shared.b16", count), ("m8n8.x4.trans.shared.b16", count)],
        _ => [("ss.kk", count), ("ss.mm", count)],
    };
    for (name, count) in [("a100", 16), ("h100", 4)] {
        let kernel = print_kernel(&program_kernel(&target(name), &program).unwrap());
        for (reader, count) in readers(name, count) {
            assert_eq!(kernel.matches(reader).count(), count, "{reader}\n{kernel}");
        }
        let stores = kernel.lines().filter(|line| line.trim_start().starts_with("store ")).count();
        assert_eq!(stores, 2 * 64 * 64 * 4 / (128 * 8), "{kernel}");
    }
}
