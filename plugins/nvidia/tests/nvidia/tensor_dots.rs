//! Dots with accumulators in tensor memory: when they are chosen, their results, and the assembler's output for their
//! code.

use crate::prelude::*;
use tilewright_layout::Space;
use tilewright_target::ElementType;
use tilewright_vendor_testkit::dots::{
    GROUP_TYPES as TYPES, accumulating_assembly as ptx, planned, problem_with_warps as problem, proven,
};

/// Whether a dot must have its accumulators in tensor memory: M is at least 64; each warpgroup has its own tile, of 128
/// rows with 16 columns or 64 rows with eight; and K consists of whole 256-bit tiles. A cast operand is wider in shared
/// memory than in registers; with 128 rows of it for few columns, warp MMAs are cheaper.
fn expected([m, n, k]: [u64; 3], [a, b]: [u64; 2], bits: Option<u64>, warps: u32) -> bool {
    if bits.is_some_and(|bits| a < bits || b < bits) && m == 128 && n <= 16 {
        return false;
    }
    let groups = u64::from(warps / 4);
    let has_tiles = m >= 64 && n >= 8 && (m / 64) * (n / 8) >= groups;
    warps.is_multiple_of(4) && has_tiles && bits.is_some_and(|bits| (k * bits).is_multiple_of(256))
}

/// Whether a dot can have its accumulators in tensor memory, possibly with operands cast to a wider type than needed.
fn possible([m, n, k]: [u64; 3], bits: Option<u64>, warps: u32) -> bool {
    m >= 64 && n >= 8 && warps.is_multiple_of(4) && bits.is_some() && (k * 32).is_multiple_of(256)
}

#[test]
fn accumulators_are_in_tensor_memory_if_and_only_if_they_fit() {
    let target = target("b200");
    let (mut wrong, mut must, mut cannot) = (Vec::new(), 0, 0);
    for (types, bits) in TYPES {
        for m in [32, 64, 128] {
            for (n, k) in [(4, 16), (4, 32), (8, 8), (8, 32), (16, 16), (64, 32)] {
                for warps in [2, 4, 8] {
                    let plan = mma::plan_mma(&problem([m, n, k], types, warps), build_plan_context(&target));
                    let atom = plan.as_ref().map_or("none", MmaPlan::atom_name);
                    let there = atom.starts_with("tcgen05.mma");
                    assert_eq!(there, plan.as_ref().is_ok_and(|plan| plan.tensor_memory_columns() >= 32));
                    let own = [types[0], types[1]].map(|name| u64::from(ElementType::from_name(name).unwrap().bits()));
                    let expected = expected([m, n, k], own, bits, warps);
                    let possible = possible([m, n, k], bits, warps);
                    must += u32::from(expected);
                    cannot += u32::from(!possible);
                    if expected && !there || there && !possible {
                        wrong.push(format!("{types:?} {m}x{n}x{k}, {warps} warps: {atom}"));
                    }
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(must > 70 && cannot > 400, "{must} must, {cannot} cannot");
}

#[test]
fn results_are_right() {
    let target = target("b200");
    for (types, _) in TYPES.iter().filter(|(_, bits)| bits.is_some()) {
        let plan = proven(&target, &problem([64, 16, 64], *types, 4));
        assert!(plan.atom_name().starts_with("tcgen05.mma"), "{types:?}");
    }
    let scale = BlockScale::from_name("e8m0").map(|scale| BlockScale { exponents: Some([-8, 8]), ..scale });
    for (types, scales) in [(["e2m1", "f16", "f32"], [scale, None]), (["f16", "e2m1", "f32"], [None, scale])] {
        for (shape, warps) in [([64, 32, 64], 4), ([128, 64, 128], 8)] {
            let plan = proven(&target, &problem(shape, types, warps).with_scales(scales));
            assert!(plan.atom_name().starts_with("tcgen05.mma"), "{types:?} {shape:?}: {}", plan.atom_name());
        }
    }
    // The cases have repetitions along M, N and K, several warpgroups, and several chunks, which phases of the mbarrier
    // distinguish.
    for (shape, warps) in [
        ([128, 16, 64], 4),
        ([256, 16, 32], 4),
        ([128, 64, 128], 8),
        ([128, 512, 16], 16),
        ([256, 64, 64], 8),
        ([64, 128, 16], 8),
        ([128, 128, 512], 8),
        ([64, 32, 512], 4),
    ] {
        let plan = proven(&target, &problem(shape, ["f16", "f16", "f32"], warps));
        assert!(plan.atom_name().starts_with("tcgen05.mma"), "{shape:?}: {}", plan.atom_name());
        let [m, n, _] = shape;
        assert!(u64::from(plan.tensor_memory_columns()) >= (m * n / 128).max(32), "{shape:?}");
    }
}

/// Checks dots with scales that the MMA reads: scales of both operands or of one, with several chunks, warpgroups and
/// tiles.
#[test]
fn scaled_dots_use_scaled_mmas() {
    let target = target("b200");
    let (mx, nv) = (BlockScale::from_name("e8m0"), BlockScale::from_name("ue4m3"));
    for (types, scales, shape, warps) in [
        (["e4m3", "e4m3", "f32"], [mx, mx], [128, 64, 64], 4),
        (["e4m3", "e5m2", "f32"], [mx, mx], [128, 8, 32], 4),
        (["e5m2", "e4m3", "f32"], [mx, None], [128, 32, 128], 4),
        (["e4m3", "e4m3", "f32"], [None, mx], [128, 64, 256], 8),
        // Types whose values the MMA's types represent.
        (["e2m3", "e3m2", "f32"], [mx, mx], [256, 32, 128], 4),
        (["e2m1", "e4m3", "f32"], [mx, mx], [128, 128, 128], 4),
        (["e2m1", "e2m1", "f32"], [mx, mx], [128, 64, 128], 4),
        (["e2m1", "e2m1", "f32"], [nv, nv], [128, 64, 256], 8),
    ] {
        let plan = proven(&target, &problem(shape, types, warps).with_scales(scales));
        let name = plan.atom_name();
        assert!(name.starts_with("tcgen05.mma") && name.contains("block_scale"), "{types:?} {shape:?}: {name}");
        let narrow = types[0] == "e2m1" && types[1] == "e2m1";
        assert_eq!(name.contains("kind::mxf4"), narrow, "{types:?} {shape:?}: {name}");
        let [m, n, _] = shape;
        assert!(u64::from(plan.tensor_memory_columns()) > m * n / 128, "scales have columns beside the sums");
    }
    // Without scales on either side, and with fewer rows than the MMA has, other MMAs are chosen.
    let plain = planned(&target, &problem([128, 64, 64], ["e4m3", "e4m3", "f32"], 4));
    assert!(plain.atom_name().contains("kind::f8f6f4"), "{}", plain.atom_name());
    let low = planned(&target, &problem([64, 64, 64], ["e4m3", "e4m3", "f32"], 4).with_scales([mx, mx]));
    assert!(!low.atom_name().contains("block_scale"), "{}", low.atom_name());
}

/// Checks that the required layout, with one row or eight rows side by side in each lane, determines the loads of
/// accumulators to registers.
#[test]
fn accumulators_are_loaded_in_the_required_layout() {
    let target = target("b200");
    let plan = planned(&target, &problem([128, 64, 64], ["f16", "f16", "f32"], 4));
    let lanes = |plan: &MmaPlan| -> Vec<u64> { plan.c.columns_of(Dim::LANE).to_vec() };
    // Rows 1, 2 and 4 are lanes 4, 8 and 16; a lane has two adjacent elements, and columns start at bit 7.
    assert_eq!(lanes(&plan), [2 << 7, 4 << 7, 1, 2, 4]);
    for (kind, rows) in [("a row in each lane", [1, 2, 4, 8, 16]), ("neighbours", [2 << 7, 4 << 7, 1, 2, 4])] {
        let registers = (0..6).map(|bit| 1u64 << (7 + bit)).filter(|column| !rows.contains(column));
        let registers: Vec<u64> = registers.chain([8, 16].into_iter().filter(|row| !rows.contains(row))).collect();
        let mut ins = Space::default();
        ins.push(Dim::REGISTER, registers.len() as u32).unwrap();
        ins.push(Dim::LANE, 5).unwrap();
        ins.push(Dim::WARP, 2).unwrap();
        ins.push(Dim::BLOCK, 0).unwrap();
        let all: Vec<u64> = registers.into_iter().chain(rows).chain([32, 64]).collect();
        let required = LinearLayout::from_columns(ins, plan.c.outs().clone(), &all).unwrap();
        let mut problem = problem([128, 64, 64], ["f16", "f16", "f32"], 4);
        problem.result_layout = Some(required);
        let found = planned(&target, &problem);
        assert_eq!((lanes(&found), found.cost.conversion_cycles), (rows.to_vec(), 0.0), "{kind}");
        assert!(found.atom_name().starts_with("tcgen05.mma"));
    }
}

#[test]
fn code_allots_multiplies_waits_and_gives_back() {
    let target = target("b200");
    for (shape, warps) in [([64, 8, 32], 4), ([128, 64, 64], 4), ([256, 128, 512], 8)] {
        let plan = planned(&target, &problem(shape, ["f16", "f16", "f32"], warps));
        let ptx = ptx(&target, &plan);
        let count = |word: &str| ptx.matches(word).count() as u64;
        assert_eq!(count("tcgen05.mma."), plan.cost.issues / plan.chunk_count(), "{shape:?}");
        assert_eq!((count("tcgen05.commit."), count("mbarrier.try_wait")), (1, 1), "{shape:?}");
        assert_eq!((count("tcgen05.alloc."), count("tcgen05.dealloc."), count("mbarrier.init")), (1, 1, 1));
        // The stores before the loop and the loads after it are waited for once.
        assert_eq!((count("tcgen05.wait::ld"), count("tcgen05.wait::st")), (1, 1), "{shape:?}");
        assert_eq!(count("fence::before_thread_sync"), count("barrier.sync") + count("bar.sync"), "{ptx}");
        assert_eq!(count("mma.sync."), 0, "{shape:?}");
    }
}
