//! The cost model of shared-memory synthesis compared with execution, for pairs of variants. If no count is higher for
//! one variant than for the other, and it executes fewer wavefronts, accesses, barriers or bytes, the model must
//! predict that it is faster. This must hold only if the variant has as many resident blocks and prefetches if the other
//! does.

use crate::prelude::*;
use tilewright_assign::synthesis::{SynthesisError, SynthesisOptions, TiledProgram, search_tile_sizes};
use tilewright_testkit::sample::{is_all, sample};
use tilewright_tile::op::Dialects;
use tilewright_tile::text::{TileSizeTemplate, parse_module};
use tilewright_vendor_testkit::explicit;
use tilewright_vendor_testkit::explicit::ranked::{RankingStats, Variant, switches};
use tilewright_vendor_testkit::explicit::{case, tiled};

/// Adds an attribute to an operation of a text, unless the operation has attributes.
fn with_attributes(text: &str, operation: &str, attributes: &str) -> String {
    text.replace(&format!("{operation} :"), &format!("{operation} {attributes} :"))
}

/// Returns the text with `stages` buffers of each shared tensor whose attributes state nothing.
fn with_stages(text: &str, stages: u32) -> String {
    with_attributes(text, "= tw.shared_tensor", &format!("{{stages = {stages} : i32}}"))
}

/// Returns groups of variants of a program. All have three stages, so that most take as much shared memory.
fn variants(target: &NvidiaTarget) -> Vec<Vec<Variant>> {
    let mut all = Vec::new();
    for name in sample(vec!["explicit_gemm", "explicit_int4", "explicit_fp8"], 3, 0) {
        let (case, text) = case(name);
        let text = with_stages(&text, 3);
        let of = |(named, options): (String, SynthesisOptions)| Variant::of(target, named, &case, &text, options);
        all.push(switches().into_iter().map(of).collect());
    }
    let (case, text) = case("explicit_gemm");
    let mut own = Vec::new();
    for row in ["m16n8k16", "m16n8k8"] {
        for tile in [[64, 64, 32], [128, 64, 32], [32, 64, 32], [64, 32, 32], [64, 64, 16]] {
            let (case, text) = tiled(&case, &text, tile, 160);
            let pinned = format!("{{instruction = \"mma.sync.aligned.{row}.row.col.f32.f16.f16.f32\"}}");
            let text = with_stages(&with_attributes(&text, "tw.mma %ra, %rb, %sum", &pinned), 3);
            own.push(Variant::of(target, format!("{tile:?} by {row}"), &case, &text, SynthesisOptions::default()));
        }
    }
    let (case, text) = tiled(&case, &text, [64, 64, 32], 160);
    for layout in ["(64,32):(32,1)", "(64,(8,4)):(8,(1,512))"] {
        let layout_of_a = format!("{{layout = \"{layout}\", stages = 3 : i32}}");
        let text = with_stages(&with_attributes(&text, "%sa = tw.shared_tensor", &layout_of_a), 3);
        own.push(Variant::of(target, format!("a in {layout}"), &case, &text, SynthesisOptions::default()));
        let plain = SynthesisOptions::default().with_memory_search(false);
        own.push(Variant::of(target, format!("a in {layout} alone"), &case, &text, plain));
    }
    all.push(own);
    all
}

#[test]
fn what_executes_less_is_predicted_to_take_less() {
    let mut ranked = RankingStats::default();
    for gpu_model in sample(vec!["a100", "rtx4090"], 2, 0) {
        for group in variants(&target(gpu_model)) {
            ranked.add(gpu_model, &group);
        }
    }
    let RankingStats { pairs, wrong, report } = ranked;
    println!("{pairs:?} pairs, {wrong:?} ranked wrongly");
    assert!(pairs[0] >= if is_all() { 30 } else { 8 }, "{pairs:?} pairs");
    // Counts do not show the cache lines that accesses request: a tile of 64 rows of 64 bytes requests twice as many as one
    // of 32 rows of 128 bytes.
    assert!(wrong[0] * 8 <= pairs[0] && wrong[1] * 4 <= pairs[1], "of {pairs:?} pairs {wrong:?}\n{report}");
}

/// Checks the cost model on programs and targets that were not used to calibrate the model.
#[test]
fn what_executes_less_is_predicted_to_take_less_where_nothing_was_mended() {
    let all = vec![
        ("h100", "explicit_decode"),
        ("h100", "explicit_moe"),
        ("h100", "explicit_int1"),
        ("h100", "explicit_interleaved"),
        ("gh200", "explicit_decode"),
        ("gh200", "explicit_moe"),
        ("gh200", "explicit_gemm_edges"),
        ("a100", "explicit_decode"),
        ("a100", "explicit_interleaved"),
        ("a100", "explicit_gemm_edges"),
    ];
    let mut ranked = RankingStats::default();
    for (gpu_model, name) in sample(all, 3, 0) {
        ranked.add_ablations(gpu_model, &target(gpu_model), name);
    }
    let RankingStats { pairs, wrong, report } = ranked;
    println!("{pairs:?} pairs, {wrong:?} ranked wrongly\n{report}");
    assert!(pairs[0] >= if is_all() { 40 } else { 8 }, "{pairs:?} pairs");
    assert!(wrong[0] == 0 && wrong[1] * 4 <= pairs[1], "of {pairs:?} pairs {wrong:?}\n{report}");
}

/// Checks a program that lists its possible tile sizes: the size with the least predicted time is chosen.
#[test]
fn a_program_lists_its_sizes() {
    let target = target("a100");
    let text = include_str!("../../../../docs/examples/sized_gemm.ttir");
    let (dialects, imports) = (tilewright_dialects::all_dialects(), tilewright_dialects::read_import_tables());
    let compiler = ProgramCompiler { dialects: &dialects, imports: &imports, target: &target };
    let chosen = |pins: &[(&str, u64)]| {
        let sizes = pins.iter().map(|(name, size)| ((*name).to_owned(), *size)).collect();
        let options = ProgramOptions::default().with_tile_sizes(sizes);
        let (mut chosen, mut predicted) = (None, None);
        compiler.compile_kernel(text, &options, &mut |stage| match stage {
            CompilationStageOutput::Sizes(sizes) => chosen = Some(sizes.clone()),
            CompilationStageOutput::Synthesis(found) => predicted = Some(found.prediction.cycles),
            _ => {}
        })?;
        Ok::<_, ProgramError>((chosen.expect("sizes"), predicted.expect("a prediction")))
    };
    let (found, cycles) = chosen(&[]).expect("a program");
    assert_eq!((found.solved, found.unsatisfied.len(), found.refused.len(), found.left_out), (8, 0, 0, 0), "{found}");
    let best = found.predicted.iter().min_by(|a, b| a.1.total_cmp(&b.1)).expect("one");
    assert_eq!(found.sizes.iter().map(|(_, size)| *size).collect::<Vec<_>>(), best.0, "{found}");
    assert_eq!(cycles, best.1, "{found}");
    // Larger tiles load less of both operands.
    assert_eq!(found.sizes[..2], [("m".to_owned(), 128), ("n".to_owned(), 64)], "{found}");
    let (pinned, _) = chosen(&[("m", 64), ("n", 64), ("k", 32)]).expect("a program");
    assert_eq!((pinned.solved, pinned.sizes[0].1), (0, 64), "{pinned}");
    let (some, _) = chosen(&[("m", 64)]).expect("a program");
    assert_eq!((some.solved, some.sizes[0].1), (4, 64), "{some}");
    let unknown = chosen(&[("z", 64)]).expect_err("no such size").to_string();
    assert!(unknown.contains("no size `z`, there are m, n, k, depth"), "{unknown}");
    // With the suite's sizes the result is the suite's program. Its number of iterations is known, so that the loop may
    // have fewer stages, and other selects for the index of a buffer.
    let (case, plain) = case("explicit_gemm");
    let sized = TileSizeTemplate::parse(text)
        .expect("a text")
        .expect("sizes")
        .substitute_sizes(&[64, 64, 32, 160])
        .expect("a program");
    let renamed = sized.replace("sized_gemm", "explicit_gemm");
    let counts = |text: &str| Counts {
        selects: 0,
        ..explicit::synthesize_and_emulate(&target, &case, text, SynthesisOptions::default()).counts
    };
    assert_eq!(counts(&renamed), counts(&plain));
}

/// Checks the choice of tile sizes: no other possible size executes less than the chosen one.
#[test]
fn sizes_of_tiles_are_found() {
    let target = target("a100");
    let families = FamilyProviders::new(vec![&NeutralFamilies, target.families()]);
    let context = build_plan_context(&target);
    let config = LaunchConfig { context, families: &families, lanes: 32, warps: 4 };
    let (case, text) = case("explicit_gemm");
    let sizes: [&[u64]; 3] = [&[32, 64, 128], &[32, 64], &[16, 32]];
    // A launch of 4096 x 4096 x 4096: K is at least 32 for tiles of 128 rows.
    let mut make = |sizes: &[u64]| {
        let &[m, n, k] = sizes else { return None };
        let (_, text) = tiled(&case, &text, [m, n, k], 4096);
        let module = parse_module(&text, &Dialects::neutral()).expect("a program");
        (m < 128 || k == 32).then_some(TiledProgram { module, blocks: 4096 / m * (4096 / n) })
    };
    let found =
        search_tile_sizes(&sizes, &mut make, &config, (SynthesisOptions::default(), 64)).expect("one is possible");
    assert_eq!((found.solved, found.unsatisfied.len(), found.beyond_limit), (10, 0, 0));
    let variant = |[m, n, k]: [u64; 3]| {
        let (case, text) = tiled(&case, &text, [m, n, k], 160);
        Variant::of(&target, format!("{:?}", [m, n, k]), &case, &text, SynthesisOptions::default())
    };
    let of = |sizes: &[u64]| variant([sizes[0], sizes[1], sizes[2]]);
    let chosen = of(&found.sizes);
    for [m, n, k] in [[32, 32, 16], [32, 32, 32], [64, 32, 32], [64, 64, 16], [64, 64, 32], [128, 64, 32]] {
        let other = variant([m, n, k]);
        assert!(!other.dominates(&chosen), "{} executes less than {}", other.name, chosen.name);
    }
    // Larger tiles load less of both operands.
    assert_eq!(found.sizes[..2], [128, 64]);
    // The search is bounded, and reports the candidates that it left out.
    let few = search_tile_sizes(&sizes, &mut make, &config, (SynthesisOptions::default(), 3)).expect("one is possible");
    assert_eq!((few.solved, few.beyond_limit), (3, 7));
    let none = search_tile_sizes(&sizes, &mut |_| None, &config, (SynthesisOptions::default(), 3));
    assert_eq!(none.err(), Some(SynthesisError::NoSizes));
}
