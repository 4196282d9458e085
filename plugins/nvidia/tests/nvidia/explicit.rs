//! Synthesis of explicit-memory programs on targets of three generations, checked by execution.

use crate::prelude::*;
use tilewright_assign::synthesis::AccessReport;
use tilewright_assign::synthesis::SynthesisOptions;
use tilewright_testkit::sample::sample;
use tilewright_vendor_testkit::explicit;
use tilewright_vendor_testkit::explicit::EXPLICIT_MEMORY_PROGRAMS;
use tilewright_vendor_testkit::explicit::MIXED;
use tilewright_vendor_testkit::explicit::PRESHUFFLED;
use tilewright_vendor_testkit::explicit::case;
use tilewright_vendor_testkit::explicit::check_loops_filling_one_tensor;
use tilewright_vendor_testkit::explicit::check_paper_kernels;
use tilewright_vendor_testkit::explicit::check_shared_bytes;
use tilewright_vendor_testkit::explicit::check_synthesis_page_table;
use tilewright_vendor_testkit::explicit::check_tile_slice_programs;
use tilewright_vendor_testkit::explicit::check_two_kinds;
use tilewright_vendor_testkit::explicit::claims::{InstructionCounts, check_alternatives, check_stated_accesses};
use tilewright_vendor_testkit::explicit::is_inner_conversion_line;
use tilewright_vendor_testkit::explicit::pinned::compare_pinned;
use tilewright_vendor_testkit::explicit::synthesize_and_emulate;
use tilewright_vendor_testkit::explicit::synthesize_and_emulate_case;
use tilewright_vendor_testkit::explicit::synthesize_layouts;
use tilewright_vendor_testkit::explicit::table;
use tilewright_vendor_testkit::explicit::tiled;
use tilewright_vendor_testkit::explicit::tiles::{check_usual_tiles_page, sized_gemm, synthesize_usual_tiles};
use tilewright_vendor_testkit::explicit::with_square_keys;
use tilewright_vendor_testkit::explicit::{check_fused_mlp, check_mamba};
use tilewright_verify::case::ProgramCase;
use tilewright_virtual_ptx::VirtualDevice;

#[test]
fn no_loop_has_conflicts_of_banks() {
    for gpu_model in ["a100", "h100", "rtx4090"] {
        let target = target(gpu_model);
        for name in EXPLICIT_MEMORY_PROGRAMS {
            let solved = synthesize_and_emulate_case(&target, name, SynthesisOptions::default());
            assert_eq!(
                solved.derivation.conflict_wavefronts_in_loops(),
                0,
                "{name} on {gpu_model}:\n{}",
                solved.derivation
            );
        }
    }
}

/// Checks that in a GEMM, lanes copy sixteen bytes by `cp.async`, load four matrices at a time, and execute one barrier
/// in each iteration.
#[test]
fn a_gemm_is_a_pipeline_of_the_widest_instructions() {
    let solved = synthesize_and_emulate_case(&target("a100"), "explicit_gemm", SynthesisOptions::default());
    assert!(solved.kernel.contains("cp.async.cg.shared.global.16"), "{}", solved.derivation);
    assert!(solved.kernel.contains("ldmatrix.sync.aligned.m8n8.x4.shared.b16"), "{}", solved.derivation);
    assert!(solved.derivation.conversions.iter().all(|line| !is_inner_conversion_line(line)), "{}", solved.derivation);
    assert!(solved.derivation.loops[0].stages > 1);
    // Five iterations along K; each loads 64 x 32 and 32 x 64 elements of 16 bits, half of each in a warp: 2 x 2048
    // bytes. The result is converted, a quarter of 64 x 64 elements in a warp, so that it is stored by 16 bytes.
    let iterations = 5;
    assert_eq!(solved.counts.wavefronts_loaded, iterations * 2 * 2048 / 128 + 2048 / 128);
    // A barrier precedes the conversion, since it takes the memory of the tiles.
    assert_eq!(solved.counts.barriers, iterations + 2);
}

/// Checks that weights are converted from bytes in shared memory to the MMA's operand by lane-local operations (seed
/// 003, Figure 2c), and loaded sixteen bytes at a time.
#[test]
fn weights_are_converted_nowhere() {
    for gpu_model in ["a100", "h100", "rtx4090"] {
        for name in MIXED.into_iter().chain(PRESHUFFLED) {
            let solved = synthesize_and_emulate_case(&target(gpu_model), name, SynthesisOptions::default());
            let of_matrices = solved.derivation.conversions.iter().filter(|line| is_inner_conversion_line(line));
            assert_eq!(of_matrices.collect::<Vec<_>>(), [""; 0], "{name} on {gpu_model}:\n{}", solved.derivation);
            // The second tensor in shared memory has the weights.
            let copied = solved.derivation.memories.iter().skip(1).take(1).flat_map(|memory| &memory.accesses);
            let copied: Vec<_> = copied.filter(|access| access.operation != "ttg.local_load").collect();
            // The interleaved layout is copied eight bytes at a time; bulk tensor copies use no registers.
            let least = if name == "explicit_interleaved" { 64 } else { 128 };
            let is_wide =
                |access: &&AccessReport| access.operation == "tw.bulk_tensor_load" || access.vector_bits >= least;
            assert!(copied.len() == 1 && copied.iter().all(is_wide), "{name} on {gpu_model}: {}", solved.derivation);
        }
        let int4 = synthesize_and_emulate_case(&target(gpu_model), "explicit_int4", SynthesisOptions::default());
        assert_eq!((int4.counts.shuffles, int4.counts.shuffles_xor), (0, 0));
    }
}

/// Checks that the accumulator of a dot is an operand of the next dot without a conversion. On rtx4090, the gradient of
/// keys and values has conversions, for 2 % less predicted time.
#[test]
fn attention_converts_nothing() {
    for gpu_model in ["a100", "h100", "rtx4090"] {
        for name in ["explicit_attention", "explicit_attention_dkv", "explicit_attention_dq", "explicit_decode"] {
            if (gpu_model, name) == ("rtx4090", "explicit_attention_dkv") {
                continue;
            }
            let solved = synthesize_and_emulate_case(&target(gpu_model), name, SynthesisOptions::default());
            let of_matrices = solved.derivation.conversions.iter().filter(|line| is_inner_conversion_line(line));
            assert_eq!(of_matrices.collect::<Vec<_>>(), [""; 0], "{name} on {gpu_model}:\n{}", solved.derivation);
        }
    }
}

/// Checks that programs stay correct if stages of synthesis are disabled, as in the ablations of the Hexcute paper,
/// section 7.5.
#[test]
fn synthesis_stages_can_be_disabled() {
    let target = target("a100");
    let memory =
        synthesize_and_emulate_case(&target, "explicit_gemm", SynthesisOptions::default().with_memory_search(false));
    assert!(memory.derivation.memories.iter().all(|line| !line.notation.contains("Swizzle")), "{}", memory.derivation);
    let pipeline =
        synthesize_and_emulate_case(&target, "explicit_gemm", SynthesisOptions::default().with_pipelining(false));
    assert_eq!(pipeline.derivation.loops[0].stages, 1);
    // Each iteration has one barrier before it reads, and one before the buffer is overwritten.
    assert!(pipeline.counts.barriers > 5, "{}", pipeline.derivation);
}

/// Checks the error for the program of the Hexcute paper, Figure 14: rows of 16 bytes are copied to shared memory;
/// `ldmatrix` can load them, its transposing form cannot. The error names both copies of the program.
#[test]
fn copies_that_disagree_are_named() {
    let target = target("a100");
    let (case, text) = case("explicit_gemm");
    let pinned = |load: &str| {
        let copy = text
            .replace("tw.copy %ai to %sa :", "tw.copy %ai to %sa {instruction = \"cp.async.cg.shared.global.16\"} :");
        let load = format!("%ra = tw.copy %sa {{instruction = \"{load}\"}} :");
        synthesize_layouts(
            &target,
            &copy.replace("%ra = tw.copy %sa :", &load),
            case.warps,
            SynthesisOptions::default(),
        )
    };
    let found = pinned("ldmatrix.sync.aligned.m8n8.x4.shared.b16").expect("rows agree");
    let of_a = found.memories.iter().find(|memory| memory.tensor == "%sa").expect("the tensor");
    assert_eq!(of_a.accesses.iter().map(|access| access.excess).collect::<Vec<_>>(), [0, 0], "{found}");
    let error = pinned("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16").expect_err("columns do not");
    for phrase in ["tensor %sa", "`tw.copy %ai to %sa`", "`%ra = tw.copy %sa`", "bit 0 of the offset"] {
        assert!(error.contains(phrase), "{phrase}: {error}");
    }
    let unknown = pinned("ldmatrix.of.nothing").expect_err("no such row");
    assert!(unknown.contains("no instruction `ldmatrix.of.nothing`") && unknown.contains("m8n8.x4"), "{unknown}");
}

/// Checks that each register layout is traced to the constraint that determines it (Hexcute paper, Figure 12).
#[test]
fn constraints_are_named() {
    let target = target("a100");
    let constraint = |found: &tilewright_assign::synthesis::Derivation, value: &str| {
        let line = found.registers.iter().find(|line| line.value == value);
        line.map_or_else(|| panic!("{value}: {found}"), |line| line.constraint.clone())
    };
    let gemm = &synthesize_and_emulate_case(&target, "explicit_gemm", SynthesisOptions::default()).derivation;
    // m16n8k16 in order: the tile is the first corner of both operands and of the accumulator.
    let of_result = constraint(gemm, "%next");
    assert!(of_result.starts_with("anchor: tiled by mma.sync.aligned.m16n8k16.row.col"), "{of_result}");
    let [m, n] = ["its M maps to [1, 2, 4, 8]", "its N to [1, 2, 4]"];
    assert!(of_result.contains(m) && of_result.contains(n), "{of_result}");
    let load = constraint(gemm, "%ra");
    assert!(load.starts_with("copy: f = g q^-1 p, p and q being those of ldmatrix"), "{load}");
    let attention = &synthesize_and_emulate_case(&target, "explicit_attention", SynthesisOptions::default()).derivation;
    assert_eq!(constraint(attention, "%greatest"), "reduce: layout of %scaled without axis 1");
    assert_eq!(constraint(attention, "%below"), "elementwise: layout of %scaled");
    assert!(constraint(attention, "%end").starts_with("carried"), "{attention}");
    assert!(attention.conversions.iter().all(|line| !is_inner_conversion_line(line)), "{attention}");
}

/// Checks that, on targets with warpgroup MMAs, both operands are read from shared memory, in a canonical layout that
/// 16-byte copies fill without conflicts, and nothing is loaded to registers.
#[test]
fn warp_groups_multiply_from_shared_memory() {
    for gpu_model in ["h100", "gh200"] {
        let target = target(gpu_model);
        let found = synthesize_and_emulate_case(&target, "explicit_gemm", SynthesisOptions::default());
        assert!(found.derivation.dots[0].instruction.starts_with("wgmma.mma_async"), "{}", found.derivation);
        assert!(found.kernel.contains("wgmma.mma_async.sync.aligned.m64n64k16"), "{}", found.kernel);
        let counts = &found.counts;
        // Only the conversion of the result loads: a quarter of 64 x 64 elements of 16 bits in a warp.
        assert!(
            found.derivation.conversions.iter().all(|line| !is_inner_conversion_line(line)),
            "{}",
            found.derivation
        );
        assert_eq!((counts.wavefronts_loaded, counts.matrix_loads, counts.shared_loads), (2048 / 128, 4, 0));
        for memory in &found.derivation.memories {
            let copy = memory.accesses.iter().find(|access| access.operation != "ttg.local_load").expect("a copy");
            assert!(copy.operation == "tw.bulk_tensor_load" || copy.vector_bits == 128, "{}", found.derivation);
            assert_eq!(copy.excess, 0, "{}", found.derivation);
            assert!(memory.notation.starts_with("Swizzle"), "{}", found.derivation);
        }
        assert!(found.derivation.loops[0].stages > 1);
    }
}

/// Checks warpgroup MMAs for 8-bit elements and for weights that are cast. An operand that is transposed in registers
/// becomes operand A of the transposed dot, and the other one is read from shared memory. Scales are copied once, and
/// several lanes read each.
#[test]
fn warp_groups_multiply_what_is_scaled_and_cast() {
    for gpu_model in ["h100", "gh200"] {
        for (name, row, expected_count) in [
            ("explicit_fp8", "m64n64k32.f32.e4m3.e4m3.ss", 2),
            ("explicit_int4", "m64n32k16.f32.f16.f16.rs", 1),
            ("explicit_moe", "m64n32k16.f32.f16.f16.rs", 1),
            ("explicit_interleaved", "m64n32k16.f32.f16.f16.rs", 1),
        ] {
            let found = synthesize_and_emulate_case(&target(gpu_model), name, SynthesisOptions::default());
            let derivation = &found.derivation;
            assert!(derivation.dots[0].instruction.contains(row), "{name} on {gpu_model}: {derivation}");
            assert_eq!(derivation.conflict_wavefronts_in_loops(), 0, "{name} on {gpu_model}: {derivation}");
            let loads = derivation.memories.iter().flat_map(|memory| &memory.accesses);
            let wgmma_loads =
                loads.filter(|access| access.instruction.as_deref().is_some_and(|row| row.contains("wgmma")));
            assert_eq!(wgmma_loads.count(), expected_count, "{name} on {gpu_model}: {derivation}");
        }
    }
}

/// Checks that `wgmma` multiplies weights that are cast, though operand and accumulator of all K take more than half of
/// a lane's registers.
#[test]
fn warp_groups_multiply_large_tiles_that_are_cast() {
    let text = sized_gemm([128, 128, 64], "f16");
    let of_b = |line: &str| ["!b", "%b", "%gb"].iter().any(|name| line.contains(name));
    let lines = text.lines().map(|line| if of_b(line) { line.replace("f16", "i8") } else { line.to_owned() });
    let text = lines.collect::<Vec<_>>().join("\n");
    let text = text.replace("%a: !tt.ptr<i8>", "%a: !tt.ptr<f16>").replace("%c: !tt.ptr<i8>", "%c: !tt.ptr<f16>");
    let cast = "      %cast = tw.cast %rb : tensor<64x128xi8> -> tensor<64x128xf16>\n      %next = tw.mma %ra, %cast,";
    let text = text.replace("      %next = tw.mma %ra, %rb,", cast);
    let derivation = synthesize_layouts(&target("h100"), &text, 4, SynthesisOptions::default()).expect("a solution");
    assert!(derivation.dots[0].instruction.contains("m64n128k16.f32.f16.f16.rs"), "{derivation}");
}

/// Checks that a dot which is chosen again keeps no MMAs in flight that only the instruction before it had: 8-bit
/// elements along N are transposed for `wgmma`, which is as fast as `mma.sync`.
#[test]
fn only_warp_groups_overlap_with_the_next_iteration() {
    let text = sized_gemm([128, 128, 64], "i8");
    let rows =
        "    %step = arith.muli %n, %depth : i32\n    %gb = tw.global_view %pb, \"(64,128,?):(?,1,?)\" [%n, %step]";
    let rows = format!("    %depth = arith.constant 64 : i32\n{rows}");
    let text = text.replace("    %gb = tw.global_view %pb, \"(64,128,?):(1,?,64)\" [%k]", &rows);
    let text = text.replace("%turns = arith.constant 64 : i32", "%turns = arith.divsi %k, %depth : i32");
    assert!(text.contains("%step]") && text.contains("divsi"), "{text}");
    let derivation = synthesize_layouts(&target("h100"), &text, 8, SynthesisOptions::default()).expect("a solution");
    let overlaps = derivation.loops.iter().any(|of| !of.pending.is_empty());
    assert!(!overlaps || derivation.dots[0].instruction.starts_with("wgmma"), "{derivation}");
}

/// Checks that each stage of synthesis improves some program: without the stage, more wavefronts, accesses or barriers
/// are executed.
#[test]
fn each_synthesis_stage_lowers_the_cost() {
    let target = target("a100");
    let of = |name: &str, options: SynthesisOptions| {
        let counts = synthesize_and_emulate_case(&target, name, options).counts;
        let copies = counts.asynchronous_copies + counts.shared_stores;
        [counts.wavefronts_stored + counts.wavefronts_loaded, copies, counts.barriers]
    };
    let all = SynthesisOptions::default();
    for name in ["explicit_gemm", "explicit_fp8", "explicit_int4"] {
        let baseline = of(name, all);
        let memory = of(name, all.with_memory_search(false));
        assert!(memory[0] > baseline[0], "{name} without memory synthesis: {memory:?}, with it {baseline:?}");
        let mapping = of(name, all.with_task_mapping_search(false));
        assert!(mapping[1] > baseline[1], "{name} without task mapping: {mapping:?}, with it {baseline:?}");
        let pipeline = of(name, all.with_pipelining(false));
        assert!(pipeline[2] > baseline[2], "{name} without a pipeline: {pipeline:?}, with it {baseline:?}");
    }
}

#[test]
fn the_page_has_what_was_found() {
    let loaded = ["a100", "h100", "rtx4090"].map(|name| (name, target(name)));
    let targets: Vec<(&str, &dyn tilewright_plugin::Target)> =
        loaded.iter().map(|(name, target)| (*name, target as _)).collect();
    check_synthesis_page_table("nvidia", &table(&targets));
}

/// Checks a copy between two tensors in shared memory: it goes through registers, in a layout that suits both.
#[test]
fn shared_memory_is_copied_to_shared_memory() {
    for gpu_model in ["a100", "h100"] {
        let (case, text) = case("explicit_gemm");
        let text =
            text.replace("%sb = tw.shared_tensor : !b", "%sb = tw.shared_tensor : !b\n    %sc = tw.shared_tensor : !a");
        let load = "%ra = tw.copy %sa : (!a)";
        let text = text.replace(load, "tw.copy %sa to %sc : (!a, !a) -> ()\n      %ra = tw.copy %sc : (!a)");
        let found = synthesize_and_emulate(&target(gpu_model), &case, &text, SynthesisOptions::default());
        let between = found.derivation.memories.iter().find(|memory| memory.tensor == "%sc").expect("the tensor");
        assert_eq!(between.accesses.iter().map(|access| access.excess).collect::<Vec<_>>().iter().sum::<u64>(), 0);
        assert!(found.counts.shared_stores + found.counts.matrix_stores > 0, "{}", found.derivation);
    }
}

/// Checks attention with as many keys in a tile as elements in a head: both dots have one shape, but K is stored along
/// K of the first dot and V along N of the second, so that they need different instructions to read them from shared
/// memory.
#[test]
fn dots_of_one_shape_choose_for_the_memory_of_their_operands() {
    let target = target("h100");
    let (case, text) = case("explicit_attention");
    let (case, text) = (ProgramCase { warps: 8, ..case }, with_square_keys(&text));
    let found = synthesize_and_emulate(&target, &case, &text, SynthesisOptions::default());
    let rows: Vec<&str> = found.derivation.dots.iter().map(|dot| dot.instruction.as_str()).collect();
    let expected = ["k", "m"].map(|axis| format!("wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16.rs.{axis}"));
    assert_eq!(rows, expected, "{}", found.derivation);
    assert!(found.derivation.loops[0].tensor_copies, "{}", found.derivation);
    let pinned = format!("{{instruction = \"{}\"}} : tensor<128x64xf16> * tensor<64x64xf16>", expected[0]);
    let shared = synthesize_layouts(
        &target,
        &text.replace(": tensor<128x64xf16> * tensor<64x64xf16>", &pinned),
        8,
        SynthesisOptions::default(),
    );
    let shared = shared.unwrap_or_else(|error| panic!("{error}"));
    assert!(found.derivation.prediction.cycles < 0.7 * shared.prediction.cycles, "{}{shared}", found.derivation);
}

/// Checks the dot of attention that has the probabilities in registers, for tiles that `wgmma` could also multiply with
/// A and B swapped: it reads V from shared memory and does not store the probabilities there.
#[test]
fn warp_groups_multiply_probabilities_in_registers() {
    let found = synthesize_and_emulate_case(&target("h100"), "explicit_attention", SynthesisOptions::default());
    let rows: Vec<&str> = found.derivation.dots.iter().map(|dot| dot.instruction.as_str()).collect();
    assert!(rows.iter().all(|row| row.starts_with("wgmma") && row.contains(".rs.")), "{}", found.derivation);
}

/// Checks instructions, stages and layout conversions before stores: `TILEWRIGHT_ALL_CASES` compares all programs.
#[test]
fn no_pinned_alternative_is_predicted_to_be_faster() {
    for gpu_model in ["a100", "h100"] {
        let (compared, faster) = compare_pinned(&target(gpu_model));
        assert!(compared >= 12, "{compared} comparisons on {gpu_model}");
        assert!(faster.is_empty(), "on {gpu_model}:\n{}", faster.join("\n"));
    }
}

/// Checks the store of 32-bit results of an MMA: lanes convert them and store 16 bytes each, not 8, which are less than
/// a sector.
#[test]
fn results_are_converted_before_the_store_if_that_is_faster() {
    for gpu_model in ["a100", "h100"] {
        let found = synthesize_and_emulate_case(&target(gpu_model), "explicit_gemm_edges", SynthesisOptions::default());
        let store = found.derivation.copies.iter().find(|copy| copy.operation == "tt.store").expect("a store");
        assert!(store.layout.contains("sizePerThread = [1, 4]"), "{gpu_model}: {}", found.derivation);
    }
}

/// Checks K of 8: `wgmma` of 16 bits needs a K of 16, and `wgmma` of `tf32` cannot read `f16` from shared memory.
#[test]
fn a_short_k_is_multiplied_from_registers() {
    let (case, text) = case("explicit_gemm");
    let (case, text) = tiled(&case, &text, [64, 64, 8], 160);
    let found = synthesize_and_emulate(&target("h100"), &case, &text, SynthesisOptions::default());
    let instruction = &found.derivation.dots[0].instruction;
    assert_eq!(instruction, "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32", "{}", found.derivation);
}

/// Checks targets whose fastest instruction has its accumulator in tensor memory: explicit-memory programs keep theirs
/// in registers.
#[test]
fn accumulators_are_in_registers() {
    for name in ["explicit_gemm", "explicit_attention"] {
        let found = synthesize_and_emulate_case(&target("b200"), name, SynthesisOptions::default());
        let is_in_registers = found.derivation.dots.iter().all(|dot| dot.instruction.starts_with("mma.sync"));
        assert!(is_in_registers, "{name}: {}", found.derivation);
    }
}

/// Checks that an instruction that the program states is refused with the reason.
#[test]
fn a_pinned_instruction_is_refused_with_its_reason() {
    let target = target("h100");
    let (case, text) = case("explicit_gemm");
    let (case, text) = tiled(&case, &text, [64, 64, 8], 160);
    let row = "wgmma.mma_async.sync.aligned.m64n64k8.f32.tf32.tf32.ss.kk";
    let text = text.replace("%rb, %sum :", &format!("%rb, %sum {{instruction = \"{row}\"}} :"));
    let error = synthesize_layouts(&target, &text, case.warps, SynthesisOptions::default()).expect_err("another type");
    assert!(error.contains(row) && error.contains("elements of tf32") && error.contains("has f16"), "{error}");
}

#[test]
fn branches_that_are_cut_would_not_have_been_better() {
    for gpu_model in sample(vec!["h100", "a100"], 2, 0) {
        let compared = explicit::pruning_changes_nothing(gpu_model, &target(gpu_model));
        assert!(compared >= 12, "{compared} programs on {gpu_model}");
    }
}

/// Checks packed weights as in the Hexcute paper, section 7.3: 128 x 128 tiles of 4-bit weights with the layout
/// `((8,2,8),(2,64)):((4,2,2048),(1,32))`. Synthesis finds this layout up to the order of its 16-byte groups.
/// `ldmatrix` loads four matrices at a time from it, and a lane receives its part of the MMA's operand.
#[test]
fn packed_weights_are_loaded_as_matrices() {
    let target = target("rtx4090");
    let found = synthesize_and_emulate_case(&target, "explicit_packed", SynthesisOptions::default());
    let (derivation, counts) = (&found.derivation, &found.counts);
    assert!(derivation.conversions.iter().all(|line| !is_inner_conversion_line(line)), "{derivation}");
    assert_eq!((counts.shuffles, counts.shuffles_xor), (0, 0), "{derivation}");
    assert_eq!(derivation.dots[0].n_width, Some(2), "{derivation}");
    let tensor = derivation.memories.iter().find(|memory| memory.tensor == "%sb").expect("the tensor");
    let [copy, load] = &tensor.accesses[..] else { panic!("{derivation}") };
    assert_eq!((copy.vector_bits, copy.excess, load.excess), (128, 0, 0), "{derivation}");
    assert!(
        load.instruction.as_deref().is_some_and(|row| row.contains("ldmatrix") && row.contains("x4")),
        "{derivation}"
    );
    // Two iterations, each with 128 x 128 elements of 4 bits and 32 x 128 of 16; warps divide the columns, and all read
    // all rows of A.
    let iterations = 2;
    let of_warp = [128 * 128 / 2 / 4, 32 * 128 * 2];
    assert_eq!(counts.shared_loads, 0, "{derivation}");
    assert_eq!(counts.matrix_loads, iterations * of_warp.iter().sum::<u64>() / 512, "{derivation}");
    // The tensor's axes are K's highest 8, N's highest 64, and the 16-byte elements, here in bytes: the content of one
    // group.
    let layout: tilewright_layout::cute::CuteLayout = "((8,2,8),(2,64)):((4,2,2048),(1,32))".parse().expect("a layout");
    for (k, n) in (0..128u64).flat_map(|k| (0..128u64).map(move |n| (k, n))) {
        let in_program = (k / 16) * 2048 + (n / 2) * 32 + (k % 8) * 4 + (k / 8 % 2) * 2 + n % 2;
        assert_eq!(layout.at(k + 128 * n), Ok(in_program), "{k}, {n}");
    }
}

/// Checks interleaved weights as in the Hexcute paper, Figure 3: the bits of K are ordered so that a lane's elements of
/// one column are contiguous for two MMAs along K. They are loaded as matrices, or as words, and nothing is converted.
#[test]
fn interleaved_weights_are_loaded_as_they_lie() {
    for gpu_model in ["a100", "rtx4090"] {
        let found =
            synthesize_and_emulate_case(&target(gpu_model), "explicit_interleaved", SynthesisOptions::default());
        let (derivation, counts) = (&found.derivation, &found.counts);
        assert!(derivation.conversions.iter().all(|line| !is_inner_conversion_line(line)), "{derivation}");
        assert_eq!((counts.shuffles, counts.shuffles_xor), (0, 0), "{derivation}");
        let tensor = derivation.memories.iter().find(|memory| memory.tensor == "%sb").expect("the tensor");
        let [copy, load] = &tensor.accesses[..] else { panic!("{derivation}") };
        assert_eq!((copy.excess, load.excess), (0, 0), "{derivation}");
        assert!(copy.vector_bits >= 64 && load.vector_bits >= 32, "{derivation}");
    }
    // One element of each mode of Figure 3's layout, of K's 32 and N's 8.
    let layout: tilewright_layout::cute::CuteLayout = "((2,2,2,4),8):((1,8,128,2),16)".parse().expect("a layout");
    for (k, n) in (0..32u64).flat_map(|k| (0..8u64).map(move |n| (k, n))) {
        let in_program = k / 4 % 2 * 128 + n * 16 + k / 2 % 2 * 8 + k / 8 * 2 + k % 2;
        assert_eq!(layout.at(k + 32 * n), Ok(in_program), "{k}, {n}");
    }
}

/// Checks the usual tiles: the instruction that an expert takes; several stages, or several resident blocks that hide
/// the latency of each other's copies; no spills where the accumulator fits the registers of a lane (255, and 128x256 in
/// 32 bits takes 256 of them by four warps).
#[test]
fn usual_tiles_have_the_choices_of_an_expert() {
    let (a100, h100) = (target("a100"), target("h100"));
    let (a100, h100) = (synthesize_usual_tiles(&a100), synthesize_usual_tiles(&h100));
    for choice in a100.iter().chain(&h100) {
        let accumulators = choice.tile[0] * choice.tile[1] / u64::from(32 * choice.warps);
        let spills = choice.derivation.dots[0].spilled_registers > 0;
        assert_eq!(spills, accumulators > 255, "{:?} by {} warps", choice.tile, choice.warps);
    }
    for choice in &h100 {
        let derivation = &choice.derivation;
        assert!(derivation.dots[0].instruction.starts_with("wgmma"), "{:?}: {derivation}", choice.tile);
    }
    for derivation in a100.iter().chain(&h100).map(|choice| &choice.derivation) {
        assert!(derivation.loops[0].stages > 1 || derivation.prediction.resident > 1, "{derivation}");
    }
    check_usual_tiles_page("tiles-nvidia", &[("a100", &a100), ("h100", &h100)]);
}

/// Checks that a program has dots of both kinds, which the same instruction executes.
#[test]
fn a_program_has_dots_of_both_kinds() {
    let solved = check_two_kinds(&target("h100"));
    let instruction = &solved.derivation.dots[0].instruction;
    assert!(instruction.starts_with("wgmma") && solved.loops.len() == 1, "{}", solved.derivation);
    // Each loop has two K steps.
    assert!(solved.kernel.matches(&format!("\"{instruction}\"")).count() >= 4, "{}", solved.kernel);
}

/// Checks the selective scan of Mamba, whose `tt.scan` stands in a pipelined loop of `tw.copy`.
#[test]
fn mamba_scans_tiles_of_shared_memory() {
    let solved = check_mamba(&target("a100"));
    assert!(solved.derivation.loops.iter().all(|of| of.stages > 1), "{}", solved.derivation);
}

#[test]
fn chained_dots_share_memory() {
    check_fused_mlp(&target("a100"));
    check_fused_mlp(&target("h100"));
}

#[test]
fn kernels_of_the_paper_are_right() {
    let (a100, h100) = (target("a100"), target("h100"));
    check_paper_kernels("paper-nvidia", 4, &[("a100", &a100, 4), ("h100", &h100, 8)]);
}

/// Checks that two loops which fill one tensor are pipelined, on h100 by bulk tensor copies if tiles are known to lie
/// within rows.
#[test]
fn several_loops_fill_one_tensor() {
    for gpu_model in ["a100", "h100"] {
        let [parts, repeated] = check_loops_filling_one_tensor(&target(gpu_model));
        for solved in [&parts, &repeated] {
            assert!(solved.derivation.loops.iter().all(|of| of.stages > 1), "{}", solved.derivation);
        }
        let bulk = repeated.derivation.loops.iter().map(|of| of.tensor_copies).collect::<Vec<_>>();
        assert_eq!(bulk, [gpu_model == "h100"; 2], "{}", repeated.derivation);
    }
}

/// Checks programs that load and fill halves of tiles, on the emulator and as PTX on the virtual device. Loops of
/// tensors that the program does not index have stages, and parts are accessed as wide as full tiles.
#[test]
fn programs_name_parts_of_tiles() {
    let (case, _) = case("explicit_gemm");
    for gpu_model in ["a100", "h100"] {
        let target = target(gpu_model);
        let all = check_tile_slice_programs(&target);
        assert!(all[..2].iter().all(|solved| solved.derivation.loops[0].stages > 1), "{}", all[0].derivation);
        assert!(all[2].counts.asynchronous_copies > 0, "{}", all[2].derivation);
        for solved in all {
            match gpu_model {
                // As the suite's dot: 16 matrices of 8x8 of each operand in each of five iterations, four in a load.
                "a100" => assert_eq!(solved.counts.matrix_loads, 5 * (16 + 16) / 4, "{}", solved.derivation),
                _ => assert!(
                    solved.derivation.dots.iter().all(|dot| dot.instruction.contains(".ss.")),
                    "{}",
                    solved.derivation
                ),
            }
            let mut module =
                tilewright_kernel::text::parse_module(&solved.kernel).unwrap_or_else(|error| panic!("{error}"));
            let mut device = VirtualDevice::new(target.description().clone(), target.instructions().to_vec());
            let checked = case
                .to_test_case(module.kernels.remove(0))
                .and_then(|case| check_on_device(&case, &target, &mut device));
            checked.unwrap_or_else(|wrong| panic!("{gpu_model}: {wrong}"));
        }
    }
}

#[test]
fn alternatives_are_listed_with_reasons() {
    for gpu_model in ["a100", "h100"] {
        check_alternatives(&target(gpu_model));
    }
}

/// Checks that the code has the copies and accesses that the derivation states.
#[test]
fn stated_accesses_are_emitted() {
    for gpu_model in ["a100", "h100", "rtx4090"] {
        check_stated_accesses(&target(gpu_model), accesses_of_ptx);
    }
}

/// Counts the asynchronous copies, and the other accesses of shared memory, in PTX.
pub fn accesses_of_ptx(ptx: &str) -> [InstructionCounts; 2] {
    let [mut copies, mut others] = [InstructionCounts::new(), InstructionCounts::new()];
    for line in ptx.lines() {
        let line = line.trim_start();
        let line = if line.starts_with('@') { line.split_once(' ').map_or(line, |(_, rest)| rest) } else { line };
        let line = line.trim_start();
        let Some(mnemonic) = line.split_whitespace().next() else { continue };
        if mnemonic.starts_with("cp.async.c") && mnemonic.contains(".shared.global") {
            let bytes = line.rsplit("], ").next().unwrap_or_default();
            let bytes = bytes.split([',', ';']).next().unwrap_or_default();
            *copies.entry(format!("{mnemonic}.{bytes}")).or_default() += 1;
        } else if mnemonic.starts_with("ldmatrix") || mnemonic.starts_with("stmatrix") {
            *others.entry(mnemonic.to_owned()).or_default() += 1;
        } else if let Some((direction @ ("ld" | "st"), form)) = mnemonic.split_once(".shared") {
            let vector = [2, 4].into_iter().find(|count| form.contains(&format!(".v{count}."))).unwrap_or(1);
            let bits: u64 = form.rsplit('.').next().and_then(|ty| ty[1..].parse().ok()).unwrap_or(0);
            let direction = if direction == "ld" { "load" } else { "store" };
            *others.entry(format!("{direction} {}", vector * bits)).or_default() += 1;
        }
    }
    [copies, others]
}

/// Checks two dots that use the same copies: each may read an operand from shared memory or from registers.
#[test]
fn dots_that_share_operands_read_them_from_shared_memory() {
    let (case, text) = case("explicit_gemm");
    let types = "tensor<64x32xf16> * tensor<32x64xf16> -> tensor<64x64xf32>";
    let twice = |pinned: [&str; 2]| {
        let [other, same] = pinned.map(|row| match row {
            "" => String::new(),
            row => format!(" {{instruction = \"{row}\"}}"),
        });
        let dots = format!(
            "%other = tw.mma %ra, %rb, %empty{other} : {types}
      %same = tw.mma %ra, %rb, %sum{same} : {types}
      %none = arith.subf %other, %other : tensor<64x64xf32>
      %next = arith.addf %same, %none : tensor<64x64xf32>"
        );
        text.replace(&format!("%next = tw.mma %ra, %rb, %sum : {types}"), &dots)
    };
    let rows = [
        "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32",
        "wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16.ss.kk",
    ];
    let programs = [("h100", twice([""; 2]), 2), ("h100", twice(rows), 1), ("a100", twice([""; 2]), 0)];
    for (gpu_model, text, from_shared) in programs {
        let found = synthesize_and_emulate(&target(gpu_model), &case, &text, SynthesisOptions::default());
        let instructions = || found.derivation.dots.iter().map(|dot| dot.instruction.as_str());
        assert_eq!(instructions().count(), 2, "{}", found.derivation);
        assert_eq!(instructions().filter(|row| row.contains(".ss.")).count(), from_shared, "{}", found.derivation);
    }
}

/// Checks dots whose warps the program divides among M and N: `wgmma` needs its four warps along M.
#[test]
fn warps_of_a_dot_can_be_pinned() {
    let (case, text) = case("explicit_gemm");
    let pinned = |[m, n]: [u32; 2]| text.replace("%sum :", &format!("%sum {{warps = array<i64: {m}, {n}>}} :"));
    for (gpu_model, instruction) in [("a100", "mma.sync"), ("h100", "wgmma")] {
        let target = target(gpu_model);
        for [m, n] in [[1, 4], [2, 2], [4, 1]] {
            let found = synthesize_and_emulate(&target, &case, &pinned([m, n]), SynthesisOptions::default());
            let dot = &found.derivation.dots[0];
            let warps = dot.layouts[2].split_once("warp = ").expect("the bases of warps").1;
            let warps = warps.split_once("]]").expect("the last basis").0;
            assert_eq!(1 << warps.matches("[0, ").count(), n, "{gpu_model}: {}", found.derivation);
            let expected = if m == 4 { instruction } else { "mma.sync" };
            assert!(dot.instruction.starts_with(expected), "{gpu_model}: {}", found.derivation);
        }
        let wrong = synthesize_layouts(&target, &pinned([2, 1]), case.warps, SynthesisOptions::default());
        let wrong = wrong.map(|found| found.to_string()).expect_err("two warps of four");
        assert!(wrong.contains("2 warps along M and 1 along N are required, but the block has 4"), "{wrong}");
    }
    let instruction = "instruction = \"wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16.ss.kk\", warps";
    let both = synthesize_layouts(
        &target("h100"),
        &pinned([2, 2]).replace("warps", instruction),
        4,
        SynthesisOptions::default(),
    );
    let both = both.map(|found| found.to_string()).expect_err("two warps along M");
    assert!(both.contains("4 warps along M issue it together, the problem has 2 there"), "{both}");
}

/// Checks that the search of a program with many equal stores does not grow with their number: they are chosen together.
#[test]
fn many_equal_stores_are_chosen_together() {
    let leaves = |tiles: u32| {
        let tile = |number: u32| {
            format!(
                "  %c{number} = arith.constant {} : i32
  %p{number} = tt.addptr %z, %c{number} : !tt.ptr<f16>, i32
  %g{number} = tw.global_view %p{number}, \"(32,32):(32,1)\" : !tt.ptr<f16> -> !tw.view<32x32xf16>
  %s{number} = tw.shared_tensor : !s
  tw.copy %g{number} to %s{number} : (!tw.view<32x32xf16>, !s) -> ()
  %r{number} = tw.copy %s{number} : (!s) -> tensor<32x32xf16>
  %h{number} = arith.addf %r{number}, %r{number} : tensor<32x32xf16>
  tw.copy %h{number} to %g{number} : (tensor<32x32xf16>, !tw.view<32x32xf16>) -> ()
",
                1024 * number
            )
        };
        let body: String = (0..tiles).map(tile).collect();
        let text = format!(
            "!s = !ttg.memdesc<32x32xf16, #tw.auto, #ttg.shared_memory, mutable>
tt.func @k(%z: !tt.ptr<f16> {{tt.divisibility = 16 : i32}}) {{
{body}  tt.return
}}"
        );
        let found = synthesize_layouts(&target("h100"), &text, 4, SynthesisOptions::default());
        found.expect("a program").search.leaves
    };
    assert_eq!(leaves(17), leaves(48));
    assert!(leaves(17) < leaves(16));
}

#[test]
fn stated_bytes_of_shared_memory_are_allocated() {
    for gpu_model in ["a100", "h100"] {
        check_shared_bytes(&target(gpu_model));
    }
}
