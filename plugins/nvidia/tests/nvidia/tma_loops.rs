//! Explicit-memory programs with asynchronous copies and MMAs: bulk tensor copies that arrive at mbarriers,
//! accumulators that are waited for in the next iteration. The emulator executes the result, and the virtual device its
//! PTX; both must match plain arithmetic.

use crate::prelude::*;
use tilewright_assign::synthesis::{CopyReport, PredictedPerformance, SynthesisOptions};
use tilewright_vendor_testkit::explicit::tiles::sized_gemm;
use tilewright_vendor_testkit::explicit::{
    EmulatedDerivation, bulk_store_program, case, column_tiles_program, persistent_tiles_program,
    synthesize_and_emulate, synthesize_and_emulate_case, synthesize_layouts, tile_chain_program, tiled,
    two_loops_program,
};
use tilewright_verify::case::ProgramCase;
use tilewright_virtual_ptx::VirtualDevice;

/// Programs whose loops use only bulk tensor copies.
const PRODUCED: [&str; 4] = ["explicit_attention", "explicit_attention_dkv", "explicit_attention_dq", "explicit_fp8"];

/// Returns a GEMM of `f16` whose loop counts the tiles of a row, so that no tile crosses the end of one.
pub(crate) fn bounded_gemm([m, n, k]: [u64; 3]) -> String {
    let text = sized_gemm([m, n, k], "f16").replace("i32 {tt.divisibility = 16", "i32 {tt.divisibility = 64");
    let constant = format!(" = arith.constant {} : i32", 4096 / k);
    let (before, after) = text.split_once(&constant).expect("the trip count");
    let (before, name) = before.rsplit_once('%').expect("a value");
    format!("{before}%depth = arith.constant {k} : i32\n    %{name} = arith.divsi %k, %depth : i32{after}")
}

/// Returns the program with `stages` buffers of each tensor in shared memory.
fn with_stages(text: &str, stages: u32) -> String {
    text.replace("tw.shared_tensor :", &format!("tw.shared_tensor {{stages = {stages} : i32}} :"))
}

/// Returns the text of the suite's GEMM with `stages` buffers of each operand.
fn staged(stages: u32) -> String {
    with_stages(&case("explicit_gemm").1, stages)
}

/// Returns the program with an attribute on its loop that requests a producer warp, or forbids one.
fn with_warp_specialize(text: &str, specialized: bool) -> String {
    const END: &str = "\n    }\n";
    assert_eq!(text.matches(END).count(), 1, "one loop");
    text.replace(END, &format!("\n    }} {{tt.warp_specialize = {specialized}}}\n"))
}

/// Returns the text of the suite's GEMM with `stages` buffers of each operand, and a loop that requests a producer warp
/// or forbids one.
fn produced(stages: u32, specialized: bool) -> String {
    with_warp_specialize(&staged(stages), specialized)
}

/// Checks a GEMM loop with bulk tensor copies: operands of 64 x 32 and 32 x 64 are copied as one box each, in each of
/// the five iterations along K. An iteration executes one block barrier; another precedes the loop, for the mbarriers.
#[test]
fn tma_fills_the_stages_of_a_dot() {
    for gpu_model in ["h100", "gh200"] {
        let (case, _) = case("explicit_gemm");
        for stages in 2..=4 {
            let found = synthesize_and_emulate(
                &target(gpu_model),
                &case,
                &produced(stages, false),
                SynthesisOptions::default(),
            );
            let of = &found.derivation.loops[0];
            assert!(of.tensor_copies && of.producers == 0 && of.stages == stages, "{gpu_model}: {}", found.derivation);
            assert!(found.kernel.contains("cp.async.bulk.tensor.2d"), "{}", found.kernel);
            let counts = &found.counts;
            assert_eq!((counts.asynchronous_copies, counts.bulk_copies), (0, 2 * 5), "{gpu_model}: {counts:?}");
            assert_eq!(counts.bulk_bytes, 2 * 5 * 64 * 32 * 2, "{gpu_model}: {counts:?}");
            // The result is converted behind one barrier, or two if it shares its scratch memory with a stage, so
            // that it is stored by 16 bytes.
            assert!((1 + 5 + 1..=1 + 5 + 2).contains(&counts.barriers), "{gpu_model}: {counts:?}");
            for memory in &found.derivation.memories {
                assert_eq!(memory.accesses.iter().map(|access| access.excess).sum::<u64>(), 0, "{}", found.derivation);
            }
        }
    }
}

/// Checks the tiles of matrices of a batch: their first offset is a multiple of the pitch by two multiplications.
#[test]
fn tiles_of_a_batch_are_bulk_tensor_copies() {
    let batch = "%z = tt.get_program_id z : i32
    %elements = arith.muli %n, %k : i32
    %before = arith.muli %z, %elements : i32
    %matrix = tt.addptr %a, %before : !tt.ptr<f16>, i32
    %pa = tt.addptr %matrix, ";
    let text = bounded_gemm([128, 128, 64]).replace("%pa = tt.addptr %a, ", batch);
    let found = synthesize_layouts(&target("h100"), &text, 8, SynthesisOptions::default()).expect("a program");
    assert!(found.loops[0].tensor_copies, "{found}");
}

/// Checks that `tt.num_stages` of a loop with explicit copies limits its stages.
#[test]
fn loops_have_at_most_their_stages() {
    let text = sized_gemm([64, 64, 64], "f16");
    for limit in 1..=3 {
        let text =
            text.replace("    }\n    %rounded", &format!("    }} {{tt.num_stages = {limit} : i32}}\n    %rounded"));
        let found = synthesize_layouts(&target("h100"), &text, 4, SynthesisOptions::default()).expect("a program");
        assert!(found.loops[0].stages <= limit, "{limit}: {found}");
    }
}

/// Checks a producer warp, which follows the four MMA warps and issues the copies. No iteration has a block barrier;
/// there is one before the loop and one after it, for any number of iterations. The other warps issue no copies; the
/// next iteration frees pending accumulators.
#[test]
fn a_producer_warp_issues_tensor_copies() {
    for gpu_model in ["h100", "gh200"] {
        let target = target(gpu_model);
        let (case, _) = case("explicit_gemm");
        for stages in 2..=4 {
            let found = synthesize_and_emulate(&target, &case, &produced(stages, true), SynthesisOptions::default());
            let of = &found.derivation.loops[0];
            assert!(of.tensor_copies && of.producers == 1 && of.stages == stages, "{gpu_model}: {}", found.derivation);
            assert!(found.derivation.to_string().contains("issued by 1 producer warp"), "{}", found.derivation);
            assert!(found.kernel.contains("lanes 32 warps 5"), "{}", found.kernel);
            let counts = &found.counts;
            assert_eq!(
                (counts.bulk_copies, counts.bulk_bytes),
                (2 * 5, 2 * 5 * 64 * 32 * 2),
                "{gpu_model}: {counts:?}"
            );
            // The barrier after the loop also precedes the conversion of the result, which has one more.
            assert_eq!(counts.barriers, 3, "{gpu_model}: {counts:?}");
        }
    }
}

/// Checks which programs may request a producer warp: those that copy all tiles by bulk tensor copies. For a program
/// whose lanes copy packed weights, the request is an error.
#[test]
fn tma_loops_may_have_a_producer_warp() {
    let target = target("h100");
    for name in PRODUCED {
        let (case, text) = case(name);
        let found =
            synthesize_and_emulate(&target, &case, &with_warp_specialize(&text, true), SynthesisOptions::default());
        assert_eq!(found.derivation.loops[0].producers, 1, "{name}: {}", found.derivation);
    }
    let (case, text) = case("explicit_int4");
    let error =
        synthesize_layouts(&target, &with_warp_specialize(&text, true), case.warps, SynthesisOptions::default())
            .expect_err("packed weights");
    assert!(error.contains("must be bulk tensor copies"), "{error}");
}

/// Checks persistent programs, whose loop over K is within a loop over tiles that allocates the shared tensors: TMA fills
/// them, with and without a producer warp, which executes both loops. A tile has no barrier of all warps.
#[test]
fn producer_warps_fill_tiles_of_enclosing_loops() {
    let target = target("h100");
    for specialized in [true, false] {
        for (size, stages) in [([320, 64, 256], 3), ([320, 64, 64], 3), ([256, 128, 192], 2), ([192, 64, 320], 4)] {
            let attributes = format!("tt.warp_specialize = {specialized}, tw.ping_pong = false");
            let (case, text) = persistent_tiles_program(size, &attributes);
            let text = with_stages(&text, stages);
            let found = synthesize_and_emulate(&target, &case, &text, SynthesisOptions::default());
            let of = &found.derivation.loops[0];
            assert!(of.tensor_copies && of.producers == u32::from(specialized), "{size:?}: {}", found.derivation);
            assert_eq!(found.kernel.matches("named_barrier 0, ").count(), if specialized { 4 } else { 0 });
            check_ptx(&target, &case, &text);
        }
    }
}

/// Checks a persistent program whose tiles read what the tile before them has stored: no producer warp prefetches them,
/// and a request for one is an error.
#[test]
fn producer_warps_do_not_pass_stores_of_earlier_tiles() {
    let target = target("h100");
    let (case, text) = tile_chain_program("");
    let found = synthesize_and_emulate(&target, &case, &text, SynthesisOptions::default());
    assert_eq!(found.derivation.loops[0].producers, 0, "{}", found.derivation);
    check_on_virtual_device(&target, &case, &text);
    let (case, text) = tile_chain_program("tt.warp_specialize");
    let error = synthesize_layouts(&target, &text, case.warps, SynthesisOptions::default()).expect_err("a request");
    assert!(error.contains("no producer warp: ") && error.contains("remove the attribute"), "{error}");
}

/// Checks nests with two loops over K: both are pipelined, and at most one has a producer warp, which a request on the
/// loop around them gives to one of them. Two requests are an error.
#[test]
fn one_of_two_loops_in_a_nest_has_a_producer_warp() {
    const REQUEST: &str = "tt.warp_specialize";
    let target = target("h100");
    let requests = [("", ["", ""], 0), (REQUEST, ["", ""], 1), ("", [REQUEST, ""], 1), ("", ["", REQUEST], 1)];
    for (outer, inner, producers) in requests {
        let (case, text) = two_loops_program(outer, inner);
        let text = with_stages(&text, 2);
        let found = synthesize_and_emulate(&target, &case, &text, SynthesisOptions::default());
        let loops = &found.derivation.loops;
        assert!(loops.len() == 2 && loops.iter().all(|of| of.stages == 2 && of.tensor_copies), "{}", found.derivation);
        assert_eq!(loops.iter().map(|of| of.producers).sum::<u32>(), producers, "{}", found.derivation);
        check_ptx(&target, &case, &text);
    }
    let (case, text) = two_loops_program("", [REQUEST; 2]);
    let error = synthesize_layouts(&target, &text, case.warps, SynthesisOptions::default()).expect_err("two producers");
    assert!(error.contains("one loop of a nest has a producer warp"), "{error}");
}

/// Checks that a producer warp is chosen if the model predicts a gain, but not if too few blocks would be resident, so
/// that the blocks take more rounds.
#[test]
fn producers_are_chosen_where_they_gain() {
    let target = target("h100");
    let (small, text) = case("explicit_gemm");
    let (large, of_large_tiles) = tiled(&small, &text, [128, 32, 32], 160);
    // Iterations that are counted by the length of a row stay within it.
    let of_large_tiles =
        of_large_tiles.replace("%turns = arith.constant 5 : i32", "%turns = arith.divsi %k, %c32 : i32");
    let of_large_tiles = with_stages(&of_large_tiles, 5);
    for (case, text, gains) in [(&small, text, false), (&large, of_large_tiles, true)] {
        let found = &synthesize_and_emulate(&target, case, &text, SynthesisOptions::default()).derivation;
        assert_eq!(found.loops[0].producers, u32::from(gains), "{found}");
        let of = |specialized: bool| {
            let found = synthesize_layouts(
                &target,
                &with_warp_specialize(&text, specialized),
                case.warps,
                SynthesisOptions::default(),
            );
            found.unwrap_or_else(|error| panic!("{error}")).prediction
        };
        let [with, without] = [true, false].map(of);
        assert_eq!(with.cycles < without.cycles, gains, "{with:?}\n{without:?}");
        // Blocks that are not resident at the same time run in successive rounds.
        let rounds = |of: &PredictedPerformance| of.blocks_per_compute_unit.div_ceil(of.resident);
        assert_eq!(rounds(&with) > rounds(&without), !gains, "{with:?}\n{without:?}");
    }
    // A block of 32 warps has no thread left for a producer warp.
    let (_, text) = case("explicit_gemm");
    let full = synthesize_layouts(&target, &with_warp_specialize(&text, true), 32, SynthesisOptions::default())
        .expect_err("a full block");
    assert!(full.contains("`tt.warp_specialize`"), "{full}");
    assert!(synthesize_layouts(&target, &text, 32, SynthesisOptions::default()).is_ok());
    // A request for a producer warp without bulk tensor copies is an error.
    let (case, _) = case("explicit_gemm");
    let a100 = self::target("a100");
    let error = synthesize_layouts(&a100, &produced(2, true), case.warps, SynthesisOptions::default())
        .expect_err("no mbarriers there");
    assert!(error.contains("`tt.warp_specialize` on `a100`"), "{error}");
    let found = synthesize_layouts(&a100, &produced(2, false), case.warps, SynthesisOptions::default())
        .unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(found.loops[0].producers, 0, "{found}");
}

/// Checks a tile of 128 x 128 x 32, whose MMAs take long enough: with four buffers an MMA is in flight while the next
/// iteration begins, and with two it cannot be.
#[test]
fn mma_stays_in_flight_across_iterations() {
    let target = target("h100");
    for stages in [2, 4] {
        let text = with_stages(&sized_gemm([128, 128, 64], "f16"), stages);
        let found = synthesize_layouts(&target, &text, 4, SynthesisOptions::default())
            .unwrap_or_else(|error| panic!("{error}"));
        let expected: &[&str] = if stages > 2 { &["%next"] } else { &[] };
        assert_eq!(found.loops[0].pending, expected, "{found}");
        let ptx = assembly(&target, &case("explicit_gemm").0, &text.replace("sized_gemm", "explicit_gemm"));
        assert_eq!(ptx.contains("wgmma.wait_group.sync.aligned 1"), stages > 2, "{ptx}");
    }
}

/// Checks that lanes copy the tiles if this stage of synthesis is disabled, or if the program or the target does not
/// allow bulk tensor copies.
#[test]
fn lanes_copy_if_tma_cannot() {
    let boxed = |gpu_model: &str, text: &str, options: SynthesisOptions| {
        let (case, _) = case("explicit_gemm");
        let found = synthesize_layouts(&target(gpu_model), text, case.warps, options);
        let found = found.unwrap_or_else(|error| panic!("{gpu_model}: {error}"));
        found.loops[0].tensor_copies || !found.loops[0].pending.is_empty()
    };
    let (all, text) = (SynthesisOptions::default(), staged(2));
    assert!(boxed("h100", &text, all));
    for gpu_model in ["a100", "rtx4090"] {
        assert!(!boxed(gpu_model, &text, all), "{gpu_model}");
    }
    let (_, free) = case("explicit_gemm");
    assert!(!boxed("h100", &free, all.with_pipelining(false)));
    assert!(!boxed("h100", &text, all.with_task_mapping_search(false)));
    // The program names another instruction.
    let pinned = |copy: &str| format!("tw.copy {copy} {{instruction = \"cp.async.cg.shared.global.16\"}} :");
    let by_lanes = text.replace("tw.copy %ai to %sa :", &pinned("%ai to %sa"));
    let by_lanes = by_lanes.replace("tw.copy %bi to %sb :", &pinned("%bi to %sb"));
    assert!(!boxed("h100", &by_lanes, all));
    // Overlapping tiles extend beyond the end of a row, where a tensor map returns zeros; so may iterations that are
    // counted otherwise.
    let overlapping = text.replace("(64,32,?):(?,1,32)", "(64,32,?):(?,1,16)");
    let overlapping = overlapping.replace("(32,64,?):(1,?,32)", "(32,64,?):(1,?,16)");
    assert!(!boxed("h100", &overlapping, all));
    let counted = text.replace("%turns = arith.divsi %k, %c32 : i32", "%turns = arith.divsi %n, %c32 : i32");
    assert!(!boxed("h100", &counted, all));
}

/// Compiles a program to PTX, which `ptxas` assembles if installed.
pub(crate) fn assembly(target: &NvidiaTarget, case: &ProgramCase, text: &str) -> String {
    let (dialects, imports) = (tilewright_dialects::all_dialects(), tilewright_dialects::read_import_tables());
    let compiler = ProgramCompiler { dialects: &dialects, imports: &imports, target };
    let kernel = case.compile_variant(&compiler, text, &ProgramOptions::default()).expect("a kernel");
    let mut options = CompileOptions { emit: vec![CodeFormat::Assembly], optimisation: 2, ..CompileOptions::default() };
    if object::find_assembler().is_ok() {
        options.emit.push(CodeFormat::Object);
    }
    let artifact =
        target.compile(&Module { kernels: vec![kernel] }, &options).unwrap_or_else(|error| panic!("{error}"));
    artifact.payload_text(CodeFormat::Assembly).expect("text").to_owned()
}

/// Compiles a program with bulk tensor copies to PTX, and checks its results on the virtual device.
pub(crate) fn check_ptx(target: &dyn Target, case: &ProgramCase, text: &str) {
    let kernel = check_on_virtual_device(target, case, text);
    assert!(kernel.contains("cp.async.bulk.tensor.2d"), "{}: {kernel}", case.name);
}

/// Compiles a program to PTX, and checks its results on the virtual device. Returns the kernel as text.
pub fn check_on_virtual_device(target: &dyn Target, case: &ProgramCase, text: &str) -> String {
    let (dialects, imports) = (tilewright_dialects::all_dialects(), tilewright_dialects::read_import_tables());
    let compiler = ProgramCompiler { dialects: &dialects, imports: &imports, target };
    let kernel = case.compile_variant(&compiler, text, &ProgramOptions::default()).expect("a kernel");
    let text = kernel.to_string();
    let mut device = VirtualDevice::new(target.description().clone(), target.instructions().to_vec());
    let checked = case.to_test_case(kernel).and_then(|case| check_on_device(&case, target, &mut device));
    checked.unwrap_or_else(|wrong| panic!("{}: {wrong}", case.name));
    text
}

/// Checks that the virtual device executes the PTX correctly, with bulk copies that complete as late as possible, and
/// that `ptxas` accepts the PTX if installed.
#[test]
fn the_virtual_device_runs_tma_loops() {
    let target = target("h100");
    let gemm =
        [2, 3, 4].map(|stages| [true, false].map(|specialized| ("explicit_gemm", produced(stages, specialized))));
    for (name, text) in gemm
        .into_iter()
        .flatten()
        .chain(["explicit_fp8", "explicit_attention", "explicit_attention_dkv"].map(|name| (name, case(name).1)))
        .chain(PRODUCED.map(|name| (name, with_warp_specialize(&case(name).1, true))))
    {
        check_ptx(&target, &case(name).0, &text);
    }
    let ptx = assembly(&target, &case("explicit_gemm").0, &staged(3));
    assert!(ptx.contains("mbarrier.try_wait") && ptx.contains("cp.async.bulk.tensor.2d"), "{ptx}");
}

/// Checks copies to global memory as bulk tensor copies: one box in each iteration from the shared tensor, and the
/// result of attention, which `stmatrix` stores to shared memory first. A store in the next iteration must not overwrite
/// a box that is being read; the emulator and the virtual device, whose bulk copies complete as late as possible, report
/// it. Targets without such copies store by lanes.
#[test]
fn bulk_tensor_copies_store_tiles() {
    let (case, text) = bulk_store_program();
    let stores = |found: &EmulatedDerivation| {
        let copies = found.derivation.copies.iter().filter(|copy| copy.operation == "tw.bulk_tensor_store");
        copies.map(|copy| copy.value.clone()).collect::<Vec<_>>()
    };
    let target_h100 = target("h100");
    let found = synthesize_and_emulate(&target_h100, &case, &text, SynthesisOptions::default());
    assert_eq!(stores(&found), ["%yi"], "{}", found.derivation);
    assert_eq!((found.counts.bulk_copies, found.counts.bulk_bytes), (2, 2 * 64 * 64 * 2), "{:?}", found.counts);
    // Each iteration has a barrier before the tensor is overwritten, and one before the box is read.
    assert_eq!(found.counts.barriers, 2 * 2, "{}", found.kernel);
    check_ptx(&target_h100, &case, &text);
    let attention = synthesize_and_emulate_case(&target_h100, "explicit_attention", SynthesisOptions::default());
    assert_eq!(stores(&attention), ["%go"], "{}", attention.derivation);
    assert!(
        attention.derivation.to_string().contains("tensor of `tw.copy %rounded to %go`"),
        "{}",
        attention.derivation
    );
    let by_lanes = synthesize_and_emulate(&target("a100"), &case, &text, SynthesisOptions::default());
    assert_eq!(stores(&by_lanes), [""; 0], "{}", by_lanes.derivation);
}

/// Checks tiles that begin within a row: if the row length and the tile's offset are multiples of its width, the tile stays
/// in the row, and is copied by TMA. If the row length is only known to be a multiple of half the width, it is not.
#[test]
fn aligned_tiles_of_a_row_are_bulk_tensor_copies() {
    let (case, text) = column_tiles_program();
    let target = target("h100");
    let found = synthesize_and_emulate(&target, &case, &text, SynthesisOptions::default());
    assert_eq!(bulk_copies(&found), ["%sa", "%sb", "%gc"], "{}", found.derivation);
    check_ptx(&target, &case, &text);
    let unaligned = text.replace("%n: i32 {tt.divisibility = 64 : i32}", "%n: i32 {tt.divisibility = 32 : i32}");
    assert_ne!(unaligned, text);
    let found = synthesize_and_emulate(&target, &case, &unaligned, SynthesisOptions::default());
    assert!(!bulk_copies(&found).iter().any(|copy| copy != "%sa"), "{}", found.derivation);
}

/// Returns the destinations of the bulk tensor copies.
fn bulk_copies(found: &EmulatedDerivation) -> Vec<String> {
    let copies = found.derivation.copies.iter().filter(|copy| copy.operation.starts_with("tw.bulk_tensor"));
    copies.map(|copy| copy.value.clone()).collect()
}

/// Checks which copies to global memory cannot be bulk tensor copies: tiles in rows of 120 bytes, and masked ones.
#[test]
fn other_tiles_are_stored_by_lanes() {
    let (case, text) = bulk_store_program();
    let rows_of_120_bytes =
        text.replace("(64,64,2):(64,1,4096)\" : !tt.ptr<f16>", "(64,64,2):(60,1,3840)\" : !tt.ptr<f16>");
    let copy = "to %yi : (!s, !tw.view<64x64xf16>)";
    let masked = text.replace(copy, "to %yi within [%row, %row] : (!s, !tw.view<64x64xf16>, i32, i32)");
    assert!(text != masked && text != rows_of_120_bytes);
    for text in [rows_of_120_bytes, masked] {
        let found = synthesize_layouts(&target("h100"), &text, case.warps, SynthesisOptions::default());
        let found = found.unwrap_or_else(|error| panic!("{error}"));
        let is_bulk = |copy: &CopyReport| copy.value == "%yi" && copy.operation == "tw.bulk_tensor_store";
        assert!(!found.copies.iter().any(is_bulk) && !found.to_string().contains("copy %yi by tw"), "{found}");
    }
}

/// Checks that a producer hands registers over where two blocks of consumers with as many registers are then resident:
/// each lane of two blocks of five warps has 168 registers (three warps share a register file of 16384), and 232 remain
/// for the lanes of four warps where the producer keeps 24. The emulator and the virtual device check the changes.
#[test]
fn producers_hand_registers_over_where_they_gain() {
    let target = target("h100");
    let (case, text) = case("explicit_attention_dq");
    let found = synthesize_and_emulate(&target, &case, &text, SynthesisOptions::default());
    let of = &found.derivation.loops[0];
    assert_eq!((of.producers, of.registers), (1, Some([232, 24])), "{}", found.derivation);
    assert!(found.derivation.to_string().contains("1 producer warp of 24 registers, which leaves 232 to the others"));
    assert!(found.kernel.contains("lanes 32 warps 8 registers 128"), "{}", found.kernel);
    let prediction = &found.derivation.prediction;
    assert_eq!((prediction.resident, prediction.registers), (2, 128));
    check_ptx(&target, &case, &text);

    let mut without = target.description().clone();
    (without.name, without.limits.register_reallocation) = ("h100-without-reallocation".to_owned(), None);
    let without = NvidiaTarget::new(without).expect("the architecture is served");
    let without = synthesize_layouts(&without, &text, case.warps, SynthesisOptions::default())
        .unwrap_or_else(|error| panic!("{error}"));
    assert_eq!((without.loops[0].producers, without.loops[0].registers), (0, None), "{without}");
    assert!(prediction.cycles < without.prediction.cycles, "{prediction:?}\n{:?}", without.prediction);
}
