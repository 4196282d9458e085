//! Dots with elements narrower than a byte and with scales: instructions that take them, operands that are scaled in
//! software, and an operand with a K permutation in memory.

use crate::prelude::*;
use tilewright_vendor_testkit::code::count;
use tilewright_vendor_testkit::dots::{assembly, check_scaled_dots, problem, proven};

fn scaled(target: &NvidiaTarget, shape: [u64; 3], [a, b]: [&str; 2], scales: [&str; 2]) -> MmaProblem {
    problem(target, shape, [a, b, "f32"]).with_scales(scales.map(BlockScale::from_name))
}

#[test]
fn rows_that_take_scales_are_used_where_types_and_scales_fit() {
    let target = target("rtx5090");
    for (types, scales, row) in [
        (["e2m1", "e2m1"], ["e8m0", "e8m0"], "kind::mxf4.block_scale.scale_vec::2X.f32.e2m1.e2m1.f32.ue8m0"),
        (["e2m1", "e2m1"], ["ue4m3", "ue4m3"], "kind::mxf4nvf4.block_scale.scale_vec::4X.f32.e2m1.e2m1.f32.ue4m3"),
        (["e2m1", "e2m1"], ["e8m0", ""], "kind::mxf4.block_scale.scale_vec::2X.f32.e2m1.e2m1.f32.ue8m0"),
        (["e4m3", "e5m2"], ["e8m0", "e8m0"], "kind::mxf8f6f4.block_scale.scale_vec::1X.f32.e4m3.e5m2.f32.ue8m0"),
        (["e3m2", "e3m2"], ["", "e8m0"], "kind::mxf8f6f4.block_scale.scale_vec::1X.f32.e3m2.e3m2.f32.ue8m0"),
        // GeForce multiplies with scales at twice the rate of the plain form; the scales are one.
        (["e3m2", "e4m3"], ["", ""], "kind::mxf8f6f4.block_scale.scale_vec::1X.f32.e3m2.e4m3.f32.ue8m0"),
    ] {
        let plan = proven(&target, &scaled(&target, [64, 64, 128], types, scales));
        assert!(plan.instruction().unwrap().ends_with(row), "{types:?} {scales:?}: {:?}", plan.instruction());
        let ptx = assembly(&target, &plan);
        assert_eq!(
            count(&ptx, plan.instruction().unwrap()),
            plan.cost.issues / plan.chunk_count(),
            "{types:?} {scales:?}"
        );
    }
}

#[test]
fn a_narrower_type_becomes_one_that_the_row_takes() {
    let target = target("rtx5090");
    let plan = proven(&target, &scaled(&target, [32, 32, 64], ["e2m1", "e4m3"], ["e8m0", "e8m0"]));
    assert!(plan.instruction().unwrap().contains("kind::mxf8f6f4"), "{:?}", plan.instruction());
    assembly(&target, &plan);
}

#[test]
fn operands_are_scaled_before_mmas_without_scales() {
    let target = target("a100");
    for (types, scales, row) in [
        (["e2m1", "bf16"], ["e8m0", ""], "f32.bf16.bf16.f32"),
        (["e4m3", "e5m2"], ["e8m0", "e8m0"], "f32.bf16.bf16.f32"),
        (["e2m1", "f16"], ["e8m0", ""], "f32.tf32.tf32.f32"),
        (["e2m1", "f16"], ["ue4m3", ""], "f32.f16.f16.f32"),
    ] {
        let plan = proven(&target, &scaled(&target, [64, 64, 64], types, scales));
        assert!(plan.instruction().unwrap().ends_with(row), "{types:?} {scales:?}: {:?}", plan.instruction());
        assembly(&target, &plan);
    }
    // If scales are known to be near one, `f16` represents the products.
    let mut near = scaled(&target, [64, 64, 64], ["e2m1", "f16"], ["e8m0", ""]);
    near.scales[0].as_mut().unwrap().exponents = Some([-8, 8]);
    assert!(proven(&target, &near).instruction().unwrap().ends_with("f32.f16.f16.f32"));
}

#[test]
fn every_pair_of_types_and_scales_has_a_valid_kernel() {
    for name in ["a100", "rtx4090", "h100", "b200", "rtx5090"] {
        check_scaled_dots(&target(name), 37);
    }
}

#[test]
fn nibbles_reach_the_mma_as_loaded() {
    let target = target("a100");
    let plan = proven(&target, &problem(&target, [64, 64, 128], ["s4", "u4", "s32"]));
    assert_eq!(plan.instruction(), Some("mma.sync.aligned.m16n8k64.row.col.s32.s4.u4.s32"));
    let kernel = text(&target, &plan);
    assert!(kernel.contains("i8") && !kernel.contains("i8 = binary"), "nothing is taken out of bytes: {kernel}");
    assembly(&target, &plan);
    // The cast operand is converted.
    let plan = proven(&target, &problem(&target, [64, 64, 128], ["s4", "s8", "s32"]));
    assert!(text(&target, &plan).contains("i8 = binary shr_u"));
}

/// Checks the data shuffling of Linear Layouts, figure 6: an operand of 16 bits that is permuted along K in global
/// memory lets `wgmma` read it from shared memory and the 4-bit operand be loaded wide into registers. The page of the
/// figure says that this is faster; by the cycles of the target's table it must not be slower.
#[test]
fn a_k_permuted_operand_stays_in_memory_for_warpgroup_mmas() {
    let target = target("h100");
    for (shape, other, accumulator) in [([64, 64, 64], "bf16", "f32"), ([64, 128, 128], "f16", "f32")] {
        let plain = problem(&target, shape, ["e2m1", other, accumulator]);
        let plain = plain.with_scales([BlockScale::from_name("e8m0"), None]);
        let natural = proven(&target, &plain);
        let permuted = proven(&target, &plain.clone().with_k_permuted([false, true]));
        let cycles = [&natural, &permuted].map(|plan| plan.cost.cycles());
        assert!(cycles[1] <= cycles[0], "{other}: {cycles:?}");
        let loads = [&natural, &permuted].map(|plan| {
            plan.plan_operand_loads(build_plan_context(&target)).unwrap()[0].warp_cycles(target.description())
        });
        assert!(loads[1] <= loads[0], "{other}: {loads:?}");
        if natural.instruction().unwrap().starts_with("wgmma") {
            assert!(permuted.instruction().unwrap().starts_with("wgmma"), "{:?}", permuted.instruction());
        }
        let order = permuted.k_permutation().unwrap();
        assert!(order.is_invertible());
        assembly(&target, &permuted);
    }
}

fn text(target: &NvidiaTarget, plan: &MmaPlan) -> String {
    build_mma_kernel(plan, false, build_plan_context(target)).unwrap().to_string()
}

#[test]
fn a_k_permuted_operand_lets_the_other_be_loaded_wide_without_a_shuffle() {
    let target = target("a100");
    let plain = scaled(&target, [64, 64, 256], ["e2m1", "bf16"], ["e8m0", ""]);
    let k_permuted = plain.clone().with_k_permuted([false, true]);
    let plan = proven(&target, &k_permuted);
    let [of_a, of_b] = plan.plan_operand_loads(build_plan_context(&target)).unwrap();
    // Sixteen elements or more of a row are loaded at once, directly into the MMA's registers.
    assert!(of_a.conversion.is_none() && of_a.access.vector_elements >= 8, "{of_a:?}");
    assert!(!text(&target, &plan).contains("exchange"));
    // B is loaded as if K were in the MMA's order, which without the permutation leaves A one byte at a time.
    let natural = proven(&target, &plain.with_k_width(2));
    let [a_natural, b_natural] = natural.plan_operand_loads(build_plan_context(&target)).unwrap();
    assert!(a_natural.warp_cycles(target.description()) > of_a.warp_cycles(target.description()));
    assert_eq!(of_b.warp_cycles(target.description()), b_natural.warp_cycles(target.description()));
    assert_eq!(plan.b, natural.b);
    // The permutation moves every element along K.
    let order = plan.k_permutation().unwrap();
    let moved = |k: u64| order.apply_packed(k) != k;
    assert!(order.is_invertible() && (0..1 << order.in_bits(Dim::OFFSET)).any(moved));
}
