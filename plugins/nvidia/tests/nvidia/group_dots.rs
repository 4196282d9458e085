//! Dots by warpgroup MMAs: when they are chosen, their code, and the assembler's output.

use crate::prelude::*;
use tilewright_vendor_testkit::dots::{
    GROUP_TYPES as TYPES, accumulating_assembly as ptx, planned, problem_with_warps as problem, proven,
};
use tilewright_verify::dot_list as list;

/// Returns all shapes [M, N, K] of some sizes, on both sides of each condition of [`expected`].
fn shapes() -> impl Iterator<Item = [u64; 3]> {
    let sizes = [[32, 64, 128], [4, 8, 128], [8, 16, 32]];
    let [m, n, k] = sizes;
    m.into_iter().flat_map(move |m| n.into_iter().flat_map(move |n| k.into_iter().map(move |k| [m, n, k])))
}

/// Whether a dot must use warpgroup MMAs: M is a multiple of the MMA's rows, N of its columns, and K consists of whole
/// 256-bit tiles of the narrowest type that has the values of both operands (`bits` wide).
fn expected([m, n, k]: [u64; 3], bits: Option<u64>, warps: u32) -> bool {
    let fits = m >= 64 && n.is_multiple_of(8) && warps.is_multiple_of(4);
    fits && bits.is_some_and(|bits| (k * bits).is_multiple_of(256))
}

/// Whether a dot can use warpgroup MMAs, possibly with operands cast to a wider type, so that a tile of K has fewer
/// elements.
fn possible([m, n, k]: [u64; 3], types: [&str; 3], bits: Option<u64>, warps: u32) -> bool {
    let widest = match types[2] {
        "f32" => 32,
        "f16" => 16,
        _ => 8,
    };
    // With A and B swapped, M and N are swapped.
    let fits = |m: u64, n: u64| m >= 64 && n.is_multiple_of(8) && warps.is_multiple_of(4);
    (fits(m, n) || fits(n, m)) && bits.is_some() && (k * widest).is_multiple_of(256)
}

#[test]
fn four_warps_multiply_wherever_it_fits_and_nowhere_else() {
    let target = target("h100");
    let (mut wrong, mut must, mut cannot) = (Vec::new(), 0, 0);
    for (types, bits) in TYPES {
        for shape in shapes() {
            for warps in [2, 4, 8, 16] {
                // Two warps cannot hold the accumulators of the largest shapes: no MMA fits.
                let plan = mma::plan_mma(&problem(shape, types, warps), build_plan_context(&target));
                let atom = plan.as_ref().map_or("none", MmaPlan::atom_name);
                let by_group = atom.starts_with("wgmma.mma_async");
                let (expected, possible) = (expected(shape, bits, warps), possible(shape, types, bits, warps));
                must += u32::from(expected);
                cannot += u32::from(!possible);
                if expected && !by_group || by_group && !possible {
                    wrong.push(format!("{types:?} {shape:?}, {warps} warps: {atom}"));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(must > 150 && cannot > 700, "{must} must, {cannot} cannot");
}

/// Checks the pairs of types of Linear Layouts, Table 5, that combine i8 with f16 or with an 8-bit floating-point type:
/// both operands become f16.
#[test]
fn four_warps_multiply_the_pairs_of_table_5_that_are_theirs() {
    let target = target("h100");
    let (mut wrong, mut must) = (Vec::new(), [0; 3]);
    for dot in list::list_table_5_dots() {
        let types = [dot.a, dot.b, dot.accumulator];
        let theirs =
            [dot.a, dot.b].contains(&"i8") && [dot.a, dot.b].iter().any(|ty| ["f16", "e4m3", "e5m2"].contains(ty));
        // Other pairs use other MMAs for any number of warps.
        for (warps, must) in [4, 8, 16].into_iter().zip(&mut must).take(if theirs { 3 } else { 1 }) {
            // Some f64 accumulators are too large for four warps.
            let plan = mma::plan_mma(&problem(dot.shape, types, warps), build_plan_context(&target));
            let atom = plan.as_ref().map_or("none", MmaPlan::atom_name);
            let expected = theirs && expected(dot.shape, Some(16), warps);
            *must += u32::from(expected);
            if expected && !atom.starts_with("wgmma") || !theirs && atom.starts_with("wgmma") {
                wrong.push(format!("{dot}, {warps} warps: {atom}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(must.iter().all(|&must| must > 60), "{must:?}");
}

/// Returns the scale type of an mxfp4 operand. Exponents have a small range if `other`, the element type of the
/// other operand, is `f16`, else the full range.
fn scales_of_mxfp4(other: &str) -> Option<BlockScale> {
    let exponents = (other == "f16").then_some([-8, 8]);
    BlockScale::from_name("e8m0").map(|scale| BlockScale { exponents, ..scale })
}

/// Checks operands that are scaled in software: they are scaled in registers, and then stored, or multiplied from
/// registers, as A or as B.
#[test]
fn warpgroup_mmas_take_operands_that_are_scaled_first() {
    let target = target("h100");
    let (mut wrong, mut must) = (Vec::new(), 0);
    for other in ["f16", "bf16"] {
        let scale = scales_of_mxfp4(other);
        let sides = [(["e2m1", other, "f32"], [scale, None]), ([other, "e2m1", "f32"], [None, scale])];
        for ((types, scales), warps) in sides.into_iter().flat_map(|side| [2, 4, 8, 16].map(|warps| (side, warps))) {
            for shape in shapes().chain([[64, 64, 64], [64, 32, 32], [128, 16, 64], [256, 64, 64]]) {
                let problem = problem(shape, types, warps).with_scales(scales);
                let plan = mma::plan_mma(&problem, build_plan_context(&target));
                let atom = plan.as_ref().map_or("none", MmaPlan::atom_name);
                let is_theirs = atom.starts_with("wgmma");
                let expected = expected(shape, Some(16), warps);
                must += u32::from(expected);
                // A warpgroup without rows of its own waits for the other one, and an H200 multiplies 105 of 512
                // elements in a cycle at N = 8, so mma.sync (332) by all warps is quicker.
                let is_narrow = shape[1] == 8 && u64::from(warps) * 16 > shape[0];
                if expected && !is_theirs && !is_narrow || is_theirs && !possible(shape, types, Some(16), warps) {
                    wrong.push(format!("{types:?} {shape:?}, {warps} warps: {atom}"));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(must > 80, "{must}");
}

/// Checks that operands narrower than a byte, and scaled operands, are converted to the MMA's elements in the registers
/// of the global loads, and stored from there.
#[test]
fn operands_converted_before_they_are_stored_are_right() {
    let target = target("h100");
    let mx = |name: &str, other: &str| {
        BlockScale::from_name(name).map(|scale| BlockScale { ..scales_of_mxfp4(other).unwrap_or(scale) })
    };
    for (types, scales, shape, warps) in [
        // The converted operand has few columns, there are more warpgroups than it has blocks of 64 rows, and several
        // chunks.
        (["f16", "e2m1", "f32"], [None, mx("e8m0", "f16")], [64, 8, 64], 4),
        (["e2m1", "f16", "f32"], [mx("e8m0", "f16"), None], [64, 64, 64], 8),
        (["bf16", "e2m1", "f32"], [None, mx("e8m0", "bf16")], [128, 16, 512], 8),
        (["e4m3", "bf16", "f32"], [mx("e8m0", "bf16"), None], [64, 128, 64], 8),
        (["e3m2", "e2m3", "f32"], [mx("e8m0", "bf16"), mx("e8m0", "bf16")], [64, 32, 32], 4),
        (["e2m1", "f16", "f32"], [BlockScale::from_name("ue4m3"), None], [64, 64, 16], 8),
        // Scales of blocks longer than a chunk.
        (
            ["bf16", "e2m1", "f32"],
            [None, BlockScale::from_name("e8m0").map(|scale| BlockScale { block: 256, ..scale })],
            [64, 64, 512],
            4,
        ),
        (["f16", "s4", "f32"], [None; 2], [64, 8, 32], 4),
        (["u2", "f16", "f32"], [None; 2], [64, 64, 32], 8),
        (["f16", "u1", "f32"], [None; 2], [64, 64, 32], 4),
        (["s4", "s8", "i32"], [None; 2], [64, 64, 64], 8),
    ] {
        let plan = proven(&target, &problem(shape, types, warps).with_scales(scales));
        assert!(plan.atom_name().starts_with("wgmma"), "{types:?} {shape:?}: {}", plan.atom_name());
        assert!(plan.shared_bytes() > 0);
        ptx(&target, &plan);
    }
}

#[test]
fn results_with_a_and_b_swapped_are_right() {
    let target = target("h100");
    let mut transposed = 0;
    for (types, shape, warps) in [
        (["f16", "f16", "f32"], [8, 64, 32], 4),
        (["f16", "f16", "f32"], [32, 128, 64], 8),
        (["bf16", "i8", "f32"], [16, 64, 64], 4),
        (["e4m3", "e5m2", "f32"], [8, 128, 64], 4),
        (["i8", "u8", "i32"], [32, 64, 128], 4),
    ] {
        let plan = proven(&target, &problem(shape, types, warps));
        assert!(plan.atom_name().starts_with("wgmma"), "{types:?} {shape:?}: {}", plan.atom_name());
        transposed += u32::from(plan.is_transposed());
        ptx(&target, &plan);
    }
    assert_eq!(transposed, 5);
}

/// Checks that warps that keep whole rows of the result (chained dots) do not swap A and B, which would divide the
/// result's columns between warps.
#[test]
fn chained_dots_do_not_swap_a_and_b() {
    let target = target("h100");
    let problem = problem([8, 64, 32], ["f16", "f16", "f32"], 4).with_chained(true);
    let plan = planned(&target, &problem);
    assert!(!plan.atom_name().starts_with("wgmma"), "{}", plan.atom_name());
}

#[test]
fn accumulators_saturate_if_requested() {
    let target = target("h100");
    for (types, shape) in [
        (["i8", "i8", "i32"], [64, 64, 64]),
        (["u8", "i8", "i32"], [128, 8, 256]),
        (["s4", "s4", "i32"], [16, 8, 128]),
        (["u8", "u8", "i32"], [16, 16, 16]),
    ] {
        let wrapping = problem(shape, types, 4);
        let saturating = wrapping.clone().with_saturating(true);
        let plan = proven(&target, &saturating);
        assert!(plan.atom_name().contains(".satfinite."), "{types:?}: {}", plan.atom_name());
        assert!(ptx(&target, &plan).contains(".satfinite"), "{types:?}");
        assert!(!planned(&target, &wrapping).atom_name().contains("satfinite"), "{types:?}");
    }
    let plain = problem([16, 16, 16], ["i16", "i16", "i32"], 4).with_saturating(true);
    let refused = mma::plan_mma(&plain, build_plan_context(&target)).unwrap_err().to_string();
    assert!(refused.contains("its accumulator wraps and must saturate"), "{refused}");
}

#[test]
fn code_has_the_mmas_of_the_plan() {
    let target = target("h100");
    let (mut by_group, mut others) = (0, 0);
    for (types, bits) in TYPES {
        for (shape, warps) in
            [([64, 8, 32], 4), ([128, 64, 64], 4), ([128, 128, 32], 8), ([32, 64, 64], 4), ([64, 64, 64], 2)]
        {
            let plan = planned(&target, &problem(shape, types, warps));
            let ptx = ptx(&target, &plan);
            let count = |word: &str| ptx.matches(word).count() as u64;
            let by_groups = plan.atom_name().starts_with("wgmma");
            assert!(by_groups || !expected(shape, bits, warps), "{types:?} {shape:?}");
            if by_groups {
                assert_eq!(count("wgmma.mma_async"), plan.cost.issues / plan.chunk_count(), "{types:?} {shape:?}");
                assert!(count("wgmma.fence.sync.aligned") > 0 && count("mma.sync.") == 0);
                assert_eq!((count("wgmma.commit_group"), count("wgmma.wait_group")), (1, 1), "{types:?} {shape:?}");
                assert_eq!(count("fence.proxy.async"), 1, "{types:?} {shape:?}");
                by_group += 1;
            } else {
                assert_eq!(count("wgmma"), 0, "{types:?} {shape:?}");
                assert_eq!(count("mma.sync.") > 0, plan.instruction().is_some(), "{types:?} {shape:?}");
                assert!(bits.is_none() || plan.instruction().is_some(), "{types:?} {shape:?}");
                others += 1;
            }
        }
    }
    // For [32, 64, 64], A and B are swapped.
    assert_eq!((by_group, others), (13 * 4, 13 + 4 * 5));
}

/// Checks that row-major operands are stored unchanged: of equivalent forms, the plan uses the one whose operand stores
/// take the fewest wavefronts.
#[test]
fn row_major_operands_are_stored_unchanged() {
    let target = target("h100");
    let plan = planned(&target, &problem([64, 64, 64], ["f16", "f16", "f32"], 4));
    assert!(plan.atom_name().ends_with(".ss.km"), "{}", plan.atom_name());
}

#[test]
fn results_are_right() {
    for name in ["h100", "gh200"] {
        let target = target(name);
        for (types, _) in TYPES.iter().filter(|(_, bits)| bits.is_some()) {
            let plan = proven(&target, &problem([64, 16, 64], *types, 4));
            assert!(plan.atom_name().starts_with("wgmma"), "{types:?}");
        }
        // The cases have repetitions along M, N and K, several warpgroups, and several chunks.
        for (shape, warps) in
            [([256, 8, 32], 4), ([128, 64, 128], 8), ([64, 128, 16], 8), ([64, 512, 32], 16), ([64, 32, 512], 4)]
        {
            let plan = proven(&target, &problem(shape, ["f16", "f16", "f32"], warps));
            assert!(plan.atom_name().starts_with("wgmma"), "{shape:?}");
        }
    }
}

#[test]
fn other_architectures_multiply_by_single_warps() {
    for name in ["a100", "rtx5090"] {
        let target = target(name);
        let plan = planned(&target, &problem([64, 64, 64], ["f16", "f16", "f32"], 4));
        assert!(plan.atom_name().starts_with("mma.sync"), "{name}: {}", plan.atom_name());
    }
}
