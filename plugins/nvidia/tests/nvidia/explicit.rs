//! Programs that say where tiles lie: what is found for them on products of three generations, and that it does what it must.

use crate::prelude::*;
use tilewright_assign::synthesis::AccessLine;
use tilewright_assign::synthesis::Options;
use tilewright_vendor_testkit::explicit;
use tilewright_vendor_testkit::explicit::MIXED;
use tilewright_vendor_testkit::explicit::PACKED;
use tilewright_vendor_testkit::explicit::PROGRAMS;
use tilewright_vendor_testkit::explicit::case;
use tilewright_vendor_testkit::explicit::derived;
use tilewright_vendor_testkit::explicit::executed;
use tilewright_vendor_testkit::explicit::is_inside;
use tilewright_vendor_testkit::explicit::kept;
use tilewright_vendor_testkit::explicit::solved;
use tilewright_vendor_testkit::explicit::table;

#[test]
fn no_loop_has_conflicts_of_banks() {
    for product in ["a100", "h100", "rtx4090"] {
        let target = target(product);
        for name in PROGRAMS {
            let solved = solved(&target, name, Options::default());
            assert_eq!(solved.derivation.conflicts_in_loops(), 0, "{name} on {product}:\n{}", solved.derivation);
        }
    }
}

/// Sixteen bytes a lane come past the registers, four matrices at a time go to them, and each turn meets once.
#[test]
fn a_product_is_a_pipeline_of_the_widest_instructions() {
    let solved = solved(&target("a100"), "explicit_gemm", Options::default());
    assert!(solved.kernel.contains("cp.async.cg.shared.global.16"), "{}", solved.derivation);
    assert!(solved.kernel.contains("ldmatrix.sync.aligned.m8n8.x4.shared.b16"), "{}", solved.derivation);
    assert_eq!(solved.derivation.conversions, [""; 0]);
    assert!(solved.derivation.loops[0].stages > 1);
    // Five turns of K; each loads 64 x 32 and 32 x 64 of 16 bits, half of each in a warp: 2 x 2048 bytes.
    let iterations = 5;
    assert_eq!(solved.counts.wavefronts_loaded, iterations * 2 * 2048 / 128);
    assert_eq!(solved.counts.barriers, iterations);
}

/// The weights go from bytes in shared memory to the unit's factor by operations of a lane alone (seed 003, Figure 2c), and come
/// sixteen bytes at a time.
#[test]
fn weights_are_converted_nowhere() {
    for product in ["a100", "h100", "rtx4090"] {
        for name in MIXED.into_iter().chain(PACKED) {
            let solved = solved(&target(product), name, Options::default());
            let of_matrices = solved.derivation.conversions.iter().filter(|line| is_inside(line));
            assert_eq!(of_matrices.collect::<Vec<_>>(), [""; 0], "{name} on {product}:\n{}", solved.derivation);
            let copied = solved.derivation.memories.iter().flat_map(|memory| &memory.accesses);
            let copied: Vec<_> = copied.filter(|access| access.operation != "ttg.local_load").collect();
            // What lies for lanes eight bytes at a time is copied so; boxes are copied by nobody's registers.
            let least = if name == "explicit_interleaved" { 64 } else { 128 };
            let is_wide = |access: &&AccessLine| access.operation == "tw.load_box" || access.vector_bits >= least;
            assert!(copied.len() == 2 && copied.iter().all(is_wide), "{name} on {product}: {}", solved.derivation);
        }
        let int4 = solved(&target(product), "explicit_int4", Options::default());
        assert_eq!((int4.counts.exchanges, int4.counts.exchanges_xor), (0, 0));
    }
}

/// The results of a product are a factor of the next one where they are.
#[test]
fn attention_converts_nothing() {
    for product in ["a100", "h100", "rtx4090"] {
        for name in ["explicit_attention", "explicit_attention_dkv", "explicit_attention_dq", "explicit_decode"] {
            let solved = solved(&target(product), name, Options::default());
            let of_matrices = solved.derivation.conversions.iter().filter(|line| is_inside(line));
            assert_eq!(of_matrices.collect::<Vec<_>>(), [""; 0], "{name} on {product}:\n{}", solved.derivation);
        }
    }
}

/// What is left out is left out, and the program still does what it must: the ablations of seed 003, section 7.5.
#[test]
fn parts_of_synthesis_can_be_left_out() {
    let target = target("a100");
    let memory = solved(&target, "explicit_gemm", Options { memory: false, ..Options::default() });
    assert!(memory.derivation.memories.iter().all(|line| !line.notation.contains("Swizzle")), "{}", memory.derivation);
    let pipeline = solved(&target, "explicit_gemm", Options { pipeline: false, ..Options::default() });
    assert_eq!(pipeline.derivation.loops[0].stages, 1);
    // Each turn meets before it reads, and before it is written again.
    assert!(pipeline.counts.barriers > 5, "{}", pipeline.derivation);
}

/// Seed 003, Figure 14, of a program: rows of 16 bytes are copied to shared memory; matrices of rows can be loaded from there,
/// transposed ones cannot, and the error names both copies as the program has them.
#[test]
fn copies_that_disagree_are_named() {
    let target = target("a100");
    let (case, text) = case("explicit_gemm");
    let pinned = |load: &str| {
        let copy = text
            .replace("tw.copy %ai to %sa :", "tw.copy %ai to %sa {instruction = \"cp.async.cg.shared.global.16\"} :");
        let load = format!("%ra = tw.copy %sa {{instruction = \"{load}\"}} :");
        derived(&target, &copy.replace("%ra = tw.copy %sa :", &load), case.warps, Options::default())
    };
    let found = pinned("ldmatrix.sync.aligned.m8n8.x4.shared.b16").expect("rows agree");
    let of_a = found.memories.iter().find(|memory| memory.tensor == "%sa").expect("the tensor");
    assert_eq!(of_a.accesses.iter().map(|access| access.excess).collect::<Vec<_>>(), [0, 0], "{found}");
    let error = pinned("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16").expect_err("columns do not");
    for part in ["tensor %sa", "`tw.copy %ai to %sa`", "`%ra = tw.copy %sa`", "bit 0 of the offset"] {
        assert!(error.contains(part), "{part}: {error}");
    }
    let unknown = pinned("ldmatrix.of.nothing").expect_err("no such row");
    assert!(unknown.contains("no row `ldmatrix.of.nothing`") && unknown.contains("m8n8.x4"), "{unknown}");
}

/// Each layout of registers is traced back to the constraint that gives it (seed 003, Figure 12).
#[test]
fn constraints_are_named() {
    let target = target("a100");
    let constraint = |found: &tilewright_assign::synthesis::Derivation, value: &str| {
        let line = found.registers.iter().find(|line| line.value == value);
        line.map_or_else(|| panic!("{value}: {found}"), |line| line.constraint.clone())
    };
    let gemm = &solved(&target, "explicit_gemm", Options::default()).derivation;
    // m16n8k16 in order: the tile is the first corner of both factors and of the sums.
    let product = constraint(gemm, "%next");
    assert!(product.starts_with("anchor: tiled by mma.sync.aligned.m16n8k16.row.col"), "{product}");
    let [m, n] = ["its M goes to [1, 2, 4, 8]", "its N to [1, 2, 4]"];
    assert!(product.contains(m) && product.contains(n), "{product}");
    let load = constraint(gemm, "%ra");
    assert!(load.starts_with("copy: f = g q^-1 p, p and q being those of ldmatrix"), "{load}");
    let attention = &solved(&target, "explicit_attention", Options::default()).derivation;
    assert_eq!(constraint(attention, "%greatest"), "reduce: that of %scaled without axis 1");
    assert_eq!(constraint(attention, "%below"), "elementwise: that of %scaled");
    assert!(constraint(attention, "%end").starts_with("carried"), "{attention}");
    assert!(attention.conversions.is_empty(), "{attention}");
}

/// On products with warp-group instructions both factors are read from shared memory, in an arrangement of the hardware's own
/// to which copies of sixteen bytes go without conflicts: nothing is loaded to registers.
#[test]
fn warp_groups_multiply_from_shared_memory() {
    for product in ["h100", "gh200"] {
        let target = target(product);
        let found = solved(&target, "explicit_gemm", Options::default());
        assert!(found.derivation.products[0].instruction.starts_with("wgmma.mma_async"), "{}", found.derivation);
        assert!(found.kernel.contains("wgmma.mma_async.sync.aligned.m64n64k16"), "{}", found.kernel);
        let counts = &found.counts;
        assert_eq!((counts.wavefronts_loaded, counts.matrix_loads, counts.shared_loads), (0, 0, 0));
        for memory in &found.derivation.memories {
            let copy = memory.accesses.iter().find(|access| access.operation != "ttg.local_load").expect("a copy");
            assert!(copy.operation == "tw.load_box" || copy.vector_bits == 128, "{}", found.derivation);
            assert_eq!(copy.excess, 0, "{}", found.derivation);
            assert!(memory.notation.starts_with("Swizzle"), "{}", found.derivation);
        }
        assert!(found.derivation.loops[0].stages > 1);
    }
}

/// What is transposed in registers is a factor of the transposed product, and the other one is read where it lies; scales are read by
/// several lanes, and brought once: so eight bits, and weights that are cast, go by the warp group's unit too.
#[test]
fn warp_groups_multiply_what_is_scaled_and_cast() {
    for product in ["h100", "gh200"] {
        for (name, row, in_place) in [
            ("explicit_fp8", "m64n64k32.f32.e4m3.e4m3.ss", 2),
            ("explicit_int4", "m64n32k16.f32.f16.f16.rs", 1),
            ("explicit_moe", "m64n32k16.f32.f16.f16.rs", 1),
            ("explicit_interleaved", "m64n32k16.f32.f16.f16.rs", 1),
        ] {
            let found = solved(&target(product), name, Options::default());
            let derivation = &found.derivation;
            assert!(derivation.products[0].instruction.contains(row), "{name} on {product}: {derivation}");
            assert_eq!(derivation.conflicts_in_loops(), 0, "{name} on {product}: {derivation}");
            let loads = derivation.memories.iter().flat_map(|memory| &memory.accesses);
            let by_unit = loads.filter(|access| access.instruction.as_deref().is_some_and(|row| row.contains("wgmma")));
            assert_eq!(by_unit.count(), in_place, "{name} on {product}: {derivation}");
        }
    }
}

/// Each part gains something on some program: without it more wavefronts, accesses or meetings are executed.
#[test]
fn leaving_out_a_part_costs_something() {
    let target = target("a100");
    let of = |name: &str, options: Options| {
        let counts = solved(&target, name, options).counts;
        let copies = counts.asynchronous_copies + counts.shared_stores;
        [counts.wavefronts_stored + counts.wavefronts_loaded, copies, counts.barriers]
    };
    let all = Options::default();
    for name in ["explicit_gemm", "explicit_fp8", "explicit_int4"] {
        let whole = of(name, all);
        let memory = of(name, Options { memory: false, ..all });
        assert!(memory[0] > whole[0], "{name} without memory synthesis: {memory:?}, with it {whole:?}");
        let mapping = of(name, Options { task_mapping: false, ..all });
        assert!(mapping[1] > whole[1], "{name} without task mapping: {mapping:?}, with it {whole:?}");
        let pipeline = of(name, Options { pipeline: false, ..all });
        assert!(pipeline[2] > whole[2], "{name} without a pipeline: {pipeline:?}, with it {whole:?}");
    }
}

#[test]
fn the_page_has_what_was_found() {
    let products = ["a100", "h100", "rtx4090"].map(|name| (name, target(name)));
    let targets: Vec<(&str, &dyn tilewright_plugin::Target)> =
        products.iter().map(|(name, target)| (*name, target as _)).collect();
    kept("nvidia", &table(&targets));
}

/// What is in shared memory is copied to another tensor there by way of registers, which each tensor's layout suits.
#[test]
fn shared_memory_is_copied_to_shared_memory() {
    for product in ["a100", "h100"] {
        let (case, text) = case("explicit_gemm");
        let text =
            text.replace("%sb = tw.shared_tensor : !b", "%sb = tw.shared_tensor : !b\n    %sc = tw.shared_tensor : !a");
        let load = "%ra = tw.copy %sa : (!a)";
        let text = text.replace(load, "tw.copy %sa to %sc : (!a, !a) -> ()\n      %ra = tw.copy %sc : (!a)");
        let found = executed(&target(product), &case, &text, Options::default());
        let between = found.derivation.memories.iter().find(|memory| memory.tensor == "%sc").expect("the tensor");
        assert_eq!(between.accesses.iter().map(|access| access.excess).collect::<Vec<_>>().iter().sum::<u64>(), 0);
        assert!(found.counts.shared_stores + found.counts.matrix_stores > 0, "{}", found.derivation);
    }
}

/// What the search keeps is predicted to take no more than any choice that the program pins, whatever branches were cut.
#[test]
fn no_pinned_choice_is_better_than_what_is_found() {
    for product in ["a100", "h100"] {
        let target = target(product);
        let (case, text) = case("explicit_gemm");
        let of = |said: &str| {
            let text = text.replace("tw.mma %ra, %rb, %sum :", &format!("tw.mma %ra, %rb, %sum {said} :"));
            derived(&target, &text, case.warps, Options::default()).unwrap_or_else(|error| panic!("{said}: {error}"))
        };
        let free = of("");
        for row in ["m16n8k16", "m16n8k8"] {
            for width in ["", ", kWidth = 2 : i32", ", kWidth = 4 : i32"] {
                let row = format!("{{instruction = \"mma.sync.aligned.{row}.row.col.f32.f16.f16.f32\"{width}}}");
                let pinned = of(&row);
                assert!(free.prediction.cycles <= pinned.prediction.cycles, "{product} {row}:\n{free}\n{pinned}");
                assert!(row.contains(&pinned.products[0].instruction), "{pinned}");
            }
        }
        assert!(free.search.leaves > 1 && free.search.leaves <= 64, "{free}");
    }
}

#[test]
fn branches_that_are_cut_would_not_have_been_better() {
    for product in ["a100", "h100"] {
        let compared = explicit::pruning_changes_nothing(product, &target(product));
        assert!(compared >= 12, "{compared} programs on {product}");
    }
}

/// Seed 003, section 7.3: tiles of weights of 4 bits, 128 x 128, that lie as `((8,2,8),(2,64)):((4,2,2048),(1,32))` says. The layout in
/// shared memory that is found is this one, but for where its groups of 16 bytes lie; four matrices at a time are loaded from it, and
/// what a lane gets is its part of the unit's factor.
#[test]
fn packed_weights_are_loaded_as_matrices() {
    let target = target("rtx4090");
    let found = solved(&target, "explicit_packed", Options::default());
    let (derivation, counts) = (&found.derivation, &found.counts);
    assert!(derivation.conversions.iter().all(|line| !is_inside(line)), "{derivation}");
    assert_eq!((counts.exchanges, counts.exchanges_xor), (0, 0), "{derivation}");
    assert_eq!(derivation.products[0].n_width, Some(2), "{derivation}");
    let tensor = derivation.memories.iter().find(|memory| memory.tensor == "%sb").expect("the tensor");
    let [copy, load] = &tensor.accesses[..] else { panic!("{derivation}") };
    assert_eq!((copy.vector_bits, copy.excess, load.excess), (128, 0, 0), "{derivation}");
    assert!(
        load.instruction.as_deref().is_some_and(|row| row.contains("ldmatrix") && row.contains("x4")),
        "{derivation}"
    );
    // Two turns, each of 128 x 128 of 4 bits and 32 x 128 of 16: warps share out the columns, and all have all rows of a.
    let iterations = 2;
    let of_warp = [128 * 128 / 2 / 4, 32 * 128 * 2];
    assert_eq!(counts.shared_loads, 0, "{derivation}");
    assert_eq!(counts.matrix_loads, iterations * of_warp.iter().sum::<u64>() / 512, "{derivation}");
    // The tensor's axes are K's highest 8, N's highest 64, and the elements of 16 bytes, here in bytes: what lies in one such group.
    let layout: tilewright_layout::cute::CuteLayout = "((8,2,8),(2,64)):((4,2,2048),(1,32))".parse().expect("a layout");
    for (k, n) in (0..128u64).flat_map(|k| (0..128u64).map(move |n| (k, n))) {
        let in_program = (k / 16) * 2048 + (n / 2) * 32 + (k % 8) * 4 + (k / 8 % 2) * 2 + n % 2;
        assert_eq!(layout.at(k + 128 * n), Ok(in_program), "{k}, {n}");
    }
}

/// Seed 003, Figure 3: K's bits lie so that a lane's elements of one column, for two products along K, follow each other. Matrices are
/// loaded from it, or words, and nothing is converted.
#[test]
fn interleaved_weights_are_loaded_as_they_lie() {
    for product in ["a100", "rtx4090"] {
        let found = solved(&target(product), "explicit_interleaved", Options::default());
        let (derivation, counts) = (&found.derivation, &found.counts);
        assert!(derivation.conversions.iter().all(|line| !is_inside(line)), "{derivation}");
        assert_eq!((counts.exchanges, counts.exchanges_xor), (0, 0), "{derivation}");
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
