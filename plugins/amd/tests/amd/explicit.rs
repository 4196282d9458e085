//! Explicit-memory programs on an AMD GPU.

use crate::targets::target;
use tilewright_assign::synthesis::SynthesisOptions;
use tilewright_testkit::sample::is_all;
use tilewright_vendor_testkit::explicit;
use tilewright_vendor_testkit::explicit::claims::{
    InstructionCounts, check_alternatives, check_stated_accesses, compiled,
};
use tilewright_vendor_testkit::explicit::pinned::compare_pinned;
use tilewright_vendor_testkit::explicit::tiles::{check_usual_tiles_page, sized_gemm, synthesize_usual_tiles};
use tilewright_vendor_testkit::explicit::{
    EXPLICIT_MEMORY_PROGRAMS, MIXED, case, check_synthesis_page_table, is_inner_conversion_line,
    synthesize_and_emulate, synthesize_and_emulate_case, synthesize_layouts, table, tiled, with_square_keys,
};
use tilewright_vendor_testkit::explicit::{
    check_fused_mlp, check_loops_filling_one_tensor, check_mamba, check_paper_kernels, check_shared_bytes,
    check_tile_slice_programs, check_two_kinds,
};
use tilewright_verify::case::ProgramCase;

/// Checks that each program computes its expected results (`solved` reports failures) with the minimum number of
/// wavefronts.
#[test]
fn no_loop_has_conflicts_of_banks() {
    let target = target("mi300x");
    for name in EXPLICIT_MEMORY_PROGRAMS {
        let solved = synthesize_and_emulate_case(&target, name, SynthesisOptions::default());
        assert_eq!(solved.derivation.conflict_wavefronts_in_loops(), 0, "{name}:\n{}", solved.derivation);
    }
}

/// Checks that the result of one dot becomes an operand of the next without a conversion, because A and B of the
/// instruction are swapped. With one warp (`explicit_decode`) some lanes shuffle instead, which costs less than other
/// loads would.
#[test]
fn attention_converts_nothing_between_its_dots() {
    let target = target("mi300x");
    for name in ["explicit_attention", "explicit_attention_dkv", "explicit_attention_dq"] {
        let solved = synthesize_and_emulate_case(&target, name, SynthesisOptions::default());
        let between = solved.derivation.conversions.iter().filter(|line| is_inner_conversion_line(line));
        assert_eq!(between.collect::<Vec<_>>(), [""; 0], "{name}:\n{}", solved.derivation);
    }
}

/// Checks attention of eight warps with as many keys in a tile as elements in a head, so that both dots have one shape:
/// warps keep their rows of the scores in the second one.
#[test]
fn chained_dots_of_one_shape_keep_their_rows() {
    let (case, text) = case("explicit_attention");
    let (case, text) = (ProgramCase { warps: 8, ..case }, with_square_keys(&text));
    let solved = synthesize_and_emulate(&target("mi300x"), &case, &text, SynthesisOptions::default());
    let between = solved.derivation.conversions.iter().filter(|line| is_inner_conversion_line(line));
    assert_eq!(between.collect::<Vec<_>>(), [""; 0], "{}", solved.derivation);
}

/// Checks that weights are converted from bytes to the operand's type within each lane, without data movement.
#[test]
fn weights_are_converted_nowhere() {
    let target = target("mi300x");
    for name in MIXED {
        let solved = synthesize_and_emulate_case(&target, name, SynthesisOptions::default());
        let of_matrices = solved.derivation.conversions.iter().filter(|line| is_inner_conversion_line(line));
        assert_eq!(of_matrices.collect::<Vec<_>>(), [""; 0], "{name}:\n{}", solved.derivation);
    }
}

/// Checks instructions, stages and layout conversions before stores: `TILEWRIGHT_ALL_CASES` compares all programs.
#[test]
fn no_pinned_alternative_is_predicted_to_be_faster() {
    for gpu_model in ["mi300x", "mi355x"].into_iter().take(if is_all() { 2 } else { 1 }) {
        let (compared, faster) = compare_pinned(&target(gpu_model));
        assert!(compared >= 12, "{compared} comparisons on {gpu_model}");
        assert!(faster.is_empty(), "on {gpu_model}:\n{}", faster.join("\n"));
    }
}

/// Checks a program whose tensors take all of shared memory. Instructions whose accumulators would be converted in the
/// loop need scratch memory, so others are chosen, and the last conversion goes through the memory of dead tensors.
#[test]
fn tensors_may_take_all_of_shared_memory() {
    let text = include_str!("../../../../docs/examples/buffered_gemm.ttir");
    let (_, text) = tiled(&case("explicit_gemm").0, text, [128, 128, 64], 256);
    let parts =
        [("64x16xf16", "128x32xf16"), ("16x64xf16", "32x128xf16"), ("[0, 16]", "[0, 32]"), ("[16, 0]", "[32, 0]")];
    let text = parts.into_iter().fold(text, |text, (from, to)| text.replace(from, to));
    let found = synthesize_layouts(&target("mi300x"), &text, 8, SynthesisOptions::default());
    let found = found.unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(found.shared_bytes, 65536, "{found}");
}

/// Checks a scan along columns, for which rounds do not lower the scratch memory, beside a tensor that takes all of
/// shared memory and is read again after it.
#[test]
fn scans_that_do_not_fit_are_rejected() {
    let text = r#"
!m = !ttg.memdesc<128x256xf16, #tw.auto, #ttg.shared_memory, mutable>
module {
  tt.func public @scan(%x: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %y: !tt.ptr<f16> {tt.divisibility = 16 : i32}) {
    %gx = tw.global_view %x, "(128,256):(256,1)" : !tt.ptr<f16> -> !tw.view<128x256xf16>
    %gy = tw.global_view %y, "(128,256):(256,1)" : !tt.ptr<f16> -> !tw.view<128x256xf16>
    %s = tw.shared_tensor : !m
    tw.copy %gx to %s : (!tw.view<128x256xf16>, !m) -> ()
    %r = tw.copy %s : (!m) -> tensor<128x256xf16>
    %scanned = "tt.scan"(%r) <{axis = 0 : i32, reverse = false}> ({
    ^bb0(%a: f16, %b: f16):
      %c = arith.addf %a, %b : f16
      tt.scan.return %c : f16
    }) : (tensor<128x256xf16>) -> tensor<128x256xf16>
    %l = tw.copy %s : (!m) -> tensor<128x256xf16>
    %z = arith.addf %scanned, %l : tensor<128x256xf16>
    tw.copy %z to %gy : (tensor<128x256xf16>, !tw.view<128x256xf16>) -> ()
    tt.return
  }
}"#;
    let error =
        synthesize_layouts(&target("mi300x"), text, 4, SynthesisOptions::default()).expect_err("it is too large");
    assert!(error.contains("bytes of shared memory; a block of `mi300x` has 65536"), "{error}");
    assert!(error.contains("`%s`: 65536 bytes"), "{error}");
}

/// Checks the prediction of shared memory, tensors and scratch memory, against the memory that lowering allocates.
#[test]
fn kernels_take_the_predicted_shared_memory() {
    let more = explicit::find_underestimated_shared_bytes(&target("mi300x"));
    assert_eq!(more, [""; 0]);
}

#[test]
fn branches_that_are_cut_would_not_have_been_better() {
    let compared = explicit::pruning_changes_nothing("mi300x", &target("mi300x"));
    assert!(compared >= 12, "{compared} programs");
}

/// Checks loops with asynchronous copies, which write to consecutive addresses, so the lanes fetch elements in swizzled
/// order. There are no bank conflicts, each iteration has one barrier, and no copy is a store. The programs state two
/// buffers and the instruction; without that, the search copies through registers, by wider accesses.
#[test]
fn lanes_fetch_what_a_swizzle_wants() {
    let target = target("mi300x");
    for (name, iterations) in [("explicit_int4", 4), ("explicit_int1", 2)] {
        let (case, text) = case(name);
        let text = text.replace("tw.shared_tensor :", "tw.shared_tensor {stages = 2 : i32} :");
        let pinned = |text: String, tensor: &str| {
            text.replace(&format!("{tensor} :"), &format!("{tensor} {{instruction = \"global_load_lds_dword\"}} :"))
        };
        let text = [" to %sa", " to %sb"].into_iter().fold(text, pinned);
        let found = synthesize_and_emulate(&target, &case, &text, SynthesisOptions::default());
        let copies = found.derivation.memories.iter().flat_map(|memory| &memory.accesses);
        for copy in copies.filter(|access| access.operation != "ttg.local_load") {
            assert_eq!(copy.instruction.as_deref(), Some("global_load_lds_dword"), "{name}: {}", found.derivation);
            assert_eq!(copy.excess, 0, "{name}: {}", found.derivation);
        }
        assert!(
            found.derivation.memories.iter().any(|memory| memory.notation.starts_with("Swizzle")),
            "{}",
            found.derivation
        );
        // Each conversion of a result, which is stored by wider accesses, has stores of its own, a barrier after them,
        // and one before them, since it takes the memory of the tiles.
        let conversions = found.derivation.conversions.len() as u64;
        assert!(conversions <= 1, "{name}: {}", found.derivation);
        assert_eq!(found.counts.barriers, iterations + 2 * conversions, "{name}: {}", found.derivation);
        assert_eq!(found.counts.shared_stores > 0, conversions > 0, "{name}: {}", found.derivation);
    }
}

/// Checks tiles that no instruction copies, because part of them is masked: they are loaded before an iteration's work
/// and stored after it. Each iteration has one barrier, and the prologue stores once.
#[test]
fn masked_tiles_are_prefetched_through_registers() {
    let found = synthesize_and_emulate_case(&target("mi300x"), "explicit_gemm_edges", SynthesisOptions::default());
    let derivation = &found.derivation;
    assert!(derivation.copies.iter().any(|copy| copy.operation == "ttg.local_store"), "{derivation}");
    assert!(derivation.loops[0].stages > 1, "{derivation}");
    // Three iterations, and the stores of the first tiles: at most one barrier before each tensor's second buffer is
    // used.
    let stages = derivation.loops[0].stages as u64;
    assert!(found.counts.barriers < 3 + stages, "{} barriers: {derivation}", found.counts.barriers);
    assert_eq!(found.counts.asynchronous_copies, 0, "{derivation}");
}

#[test]
fn dots_use_the_matrix_unit() {
    let solved = synthesize_and_emulate_case(&target("mi300x"), "explicit_gemm", SynthesisOptions::default());
    assert!(solved.kernel.contains("mfma"), "{}", solved.derivation);
}

#[test]
fn the_page_has_what_was_found() {
    let target = target("mi300x");
    check_synthesis_page_table("amd", &table(&[("mi300x", &target)]));
}

/// Checks the usual tiles: each has a program that fits the shared memory of the target; its loop prefetches, or
/// several blocks are resident and hide each other's latency. CDNA 3 keeps one buffer and refills it from registers,
/// since two buffers of large tiles do not fit 64 KiB.
#[test]
fn usual_tiles_have_the_choices_of_an_expert() {
    let (mi300x, mi355x) = (target("mi300x"), target("mi355x"));
    let (mi300x, mi355x) = (synthesize_usual_tiles(&mi300x), synthesize_usual_tiles(&mi355x));
    for choice in mi300x.iter().chain(&mi355x) {
        let derivation = &choice.derivation;
        assert!(derivation.dots[0].instruction.starts_with("v_mfma"), "{:?}: {derivation}", choice.tile);
        let hides_latency = derivation.loops[0].stages > 1 || derivation.prediction.resident > 1;
        assert!(hides_latency, "{:?}: {derivation}", choice.tile);
    }
    check_usual_tiles_page("tiles-amd", &[("mi300x", &mi300x), ("mi355x", &mi355x)]);
}

#[test]
fn loops_share_tensors_and_programs_name_parts() {
    for gpu_model in ["mi300x", "mi355x"] {
        check_loops_filling_one_tensor(&target(gpu_model));
        check_tile_slice_programs(&target(gpu_model));
    }
    assert_eq!(check_two_kinds(&target("mi300x")).loops.len(), 1);
    check_mamba(&target("mi300x"));
    check_fused_mlp(&target("mi300x"));
}

#[test]
fn kernels_of_the_paper_are_right() {
    let (mi300x, mi355x) = (target("mi300x"), target("mi355x"));
    check_paper_kernels("paper-amd", 1, &[("mi300x", &mi300x, 4), ("mi355x", &mi355x, 4)]);
}

#[test]
fn alternatives_are_listed_with_reasons() {
    check_alternatives(&target("mi300x"));
}

#[test]
fn stated_bytes_of_shared_memory_are_allocated() {
    check_shared_bytes(&target("mi300x"));
}

/// Checks that the code has the copies and accesses that the derivation states.
#[test]
fn stated_accesses_are_emitted() {
    check_stated_accesses(&target("mi300x"), accesses_of_assembly);
}

/// Checks a loop that prefetches through registers: its last iteration, which loads nothing, does not write zeros, and
/// all loads are issued at the start of an iteration, before the work that hides their latency.
#[test]
fn prefetches_start_an_iteration_and_write_no_zeros() {
    let text = sized_gemm([128, 128, 64], "f16");
    let (derivation, assembly) = compiled(&target("mi300x"), &("sized_gemm".to_owned(), text, 4));
    assert_eq!((derivation.loops[0].stages, derivation.loops[0].buffers), (2, 1), "{derivation}");
    let body = loops_of(&assembly).find(|body| body.contains("v_mfma")).expect("a loop of MMAs");
    let (last_load, first_read) = (body.rfind("global_load_dwordx4"), body.find("ds_read"));
    assert!(last_load.is_some() && last_load < first_read, "{body}");
    let zeros = body.lines().filter(|line| line.contains("v_mov_b32") && line.trim_end().ends_with(", 0"));
    assert_eq!(zeros.collect::<Vec<_>>(), [""; 0], "{body}");
}

/// The bodies of the loops in assembly: from the target of each backward branch to the branch.
fn loops_of(assembly: &str) -> impl Iterator<Item = &str> {
    assembly.match_indices("s_cbranch").filter_map(|(end, _)| {
        let before = &assembly[..end];
        let label = assembly[end..].lines().next()?.split_whitespace().nth(1)?;
        before.rfind(&format!("\n{label}:")).map(|start| &before[start..])
    })
}

/// Counts the asynchronous copies, and the other accesses of LDS, in assembly; `ds_read2` and `ds_write2` count twice.
fn accesses_of_assembly(assembly: &str) -> [InstructionCounts; 2] {
    let [mut copies, mut others] = [InstructionCounts::new(), InstructionCounts::new()];
    for mnemonic in assembly.lines().filter_map(|line| line.split_whitespace().next()) {
        if mnemonic.starts_with("global_load_lds_") {
            *copies.entry(mnemonic.to_owned()).or_default() += 1;
        } else if let Some(form) = mnemonic.strip_prefix("ds_read") {
            count_lds(&mut others, "load", form);
        } else if let Some(form) = mnemonic.strip_prefix("ds_write") {
            count_lds(&mut others, "store", form);
        }
    }
    [copies, others]
}

/// Counts an LDS access of the form `_b128`, `2_b64`, `2st64_b32`, `_u16_d16` or `_b8_d16_hi`.
fn count_lds(counts: &mut InstructionCounts, direction: &str, form: &str) {
    let times = if form.starts_with('2') { 2 } else { 1 };
    let bits = form.split('_').filter_map(|part| part.strip_prefix(['b', 'u', 'i'])?.parse::<u64>().ok()).next();
    // `ds_read_b64_tr_b16` and its like are instructions with names of their own.
    if let Some(bits) = bits.filter(|_| !form.contains("_tr_")) {
        *counts.entry(format!("{direction} {bits}")).or_default() += times;
    } else {
        *counts.entry(format!("ds_read{form}")).or_default() += 1;
    }
}
