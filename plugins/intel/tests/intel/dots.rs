//! Dots of whole tiles: layouts of the `dpas` family, and calls of its builtin in the code.
#![allow(clippy::unwrap_used)]

use crate::validated_target::{ValidatedTarget, target};
use tilewright_intel::compile::offline::rewrite_for_older_ocloc;
use tilewright_vendor_testkit::dots::{
    assembly, check_layouts_match_families, check_scaled_dots, object, planned, problem, proven, warps,
};
use tilewright_vendor_testkit::prelude::*;

fn targets() -> [ValidatedTarget; 2] {
    ["max1550", "b580"].map(target)
}

fn dpas(plan: &MmaPlan, element_bits: u32, lanes: i64) -> FamilySpec {
    let row = plan.instruction().unwrap();
    let repeat: i64 = row.strip_prefix("dpas.8x").and_then(|rest| rest.split('.').next()).unwrap().parse().unwrap();
    FamilySpec::new("dpas")
        .with_parameter("repeat_count", repeat)
        .with_parameter("systolic_depth", 8i64)
        .with_parameter("execution_size", 16i64)
        .with_parameter("ops_per_channel", 32 / i64::from(element_bits))
        .with_parameter("threads_per_warp", lanes)
        .with_parameter("warps_per_cta", warps(plan))
        .with_parameter("rep_cluster", [1i64, 1])
}

#[test]
fn layouts_are_those_of_the_dpas_family() {
    for target in targets() {
        // Registers of a lane along K for operands A and B: none for 16-bit elements, two for bytes.
        for (types, bits, width) in
            [(["f16", "f16", "f32"], 16, 1), (["bf16", "bf16", "f32"], 16, 1), (["i8", "i8", "i32"], 8, 2)]
        {
            let requested = problem(&target, [32, 32, 32], types).with_k_width(width);
            let plan = proven(&target, &requested);
            let lanes = i64::from(target.description().lanes.default);
            check_layouts_match_families(&target, &plan, &dpas(&plan, bits, lanes), None);
        }
    }
}

#[test]
fn every_pair_of_types_and_scales_has_a_valid_kernel() {
    for target in targets() {
        check_scaled_dots(&target, 37);
    }
}

/// Checks that a dot takes the large register mode only if its accumulators do not fit the default one, and that the
/// kernel asks for it. Accumulators of 256x256 over 32 sub-groups of 16 lanes are 128 registers of a lane, as many as
/// the default mode has for all values.
#[test]
fn large_dots_take_the_large_register_mode() {
    let target = target("max1550");
    let by = |shape, warps, registers| {
        let types = ["bf16", "bf16", "f32"];
        mma::plan_mma(
            &problem(&target, shape, types).with_warps(warps).with_registers(registers),
            build_plan_context(&target),
        )
    };
    let large = by([256, 256, 32], 32, None).unwrap();
    assert!(large.instruction().is_some_and(|row| row.starts_with("dpas")), "{}", large.atom_name());
    assert_eq!((large.register_mode(), large.cost.registers > 128), (256, true));
    let kernel = build_mma_kernel(&large, false, build_plan_context(&target)).unwrap();
    assert_eq!(kernel.launch.registers, 256);
    let compiled = artifact(&target, vec![kernel], &[CodeFormat::Object]).unwrap();
    assert_eq!(compiled.kernels[0].registers, 256);
    assert_eq!(by([128, 256, 32], 32, None).unwrap().register_mode(), 0);
    assert_eq!(by([128, 256, 32], 32, Some(256)).unwrap().register_mode(), 256);
    // 1024 lanes have 128 registers each, in any mode.
    for (warps, registers) in [(64, Some(256)), (32, Some(192)), (32, Some(128))] {
        assert!(by([256, 256, 32], warps, registers).is_err(), "{warps} warps, {registers:?}");
    }
}

/// Returns the number of calls of imported functions whose names contain a word.
fn calls_of(text: &str, word: &str) -> u64 {
    let imported = text.lines().filter(|line| line.contains("LinkageAttributes") && line.contains(word));
    let ids: Vec<&str> =
        imported.filter_map(|line| line.split_whitespace().find(|word| word.starts_with('%'))).collect();
    let calls = text.lines().filter(|line| line.contains("OpFunctionCall"));
    calls.filter(|line| ids.iter().any(|id| line.split_whitespace().any(|word| word == *id))).count() as u64
}

#[test]
fn builtin_call_count_matches_the_plan() {
    for target in targets() {
        for types in [["f16", "f16", "f32"], ["i8", "i8", "i32"], ["i8", "e4m3", "f32"]] {
            let plan = proven(&target, &problem(&target, [32, 64, 32], types));
            assert!(plan.instruction().is_some_and(|row| row.starts_with("dpas")), "{types:?}: {}", plan.atom_name());
            let text = assembly(&target, &plan);
            assert!(text.contains("matrix_mad"), "{text}");
            assert_eq!(calls_of(&text, "matrix_mad"), plan.cost.issues / plan.chunk_count(), "{types:?}");
        }
    }
}

#[test]
fn code_imports_the_builtin_of_the_types() {
    // cl_intel_subgroup_matrix_multiply_accumulate and its extensions for f16 and bf16 accumulators: names, and their
    // mangling by compilers of OpenCL C, for eight rows and sub-groups of 16.
    for (types, builtin) in [
        (["f16", "f16", "f32"], "_Z38intel_sub_group_f16_f16_matrix_mad_k16Dv8_sDv8_iDv8_f"),
        (["bf16", "bf16", "f32"], "_Z40intel_sub_group_bf16_bf16_matrix_mad_k16Dv8_sDv8_iDv8_f"),
        (["i8", "i8", "i32"], "_Z36intel_sub_group_i8_i8_matrix_mad_k32Dv8_sDv8_iS0_"),
        (["u8", "i8", "i32"], "_Z36intel_sub_group_u8_i8_matrix_mad_k32Dv8_tDv8_iS0_"),
        (["f16", "f16", "f16"], "_Z38intel_sub_group_f16_f16_matrix_mad_k16Dv8_sDv8_iDv8_Dh"),
        (["bf16", "bf16", "bf16"], "_Z40intel_sub_group_bf16_bf16_matrix_mad_k16Dv8_sDv8_iS_"),
        (["e4m3", "e5m2", "f32"], "_Z38intel_sub_group_f16_f16_matrix_mad_k16Dv8_sDv8_iDv8_f"),
    ] {
        for target in targets() {
            let plan = planned(&target, &problem(&target, [32, 64, 32], types));
            let text = assembly(&target, &plan);
            assert!(text.contains(&format!("\"{builtin}\"")), "{types:?} by {}: {text}", plan.atom_name());
            let imported = |word: &str| {
                text.lines().filter(|line| line.contains("LinkageAttributes") && line.contains(word)).count()
            };
            let others = imported("_2d_block_read_") + imported("matrix_mad");
            assert_eq!((imported("matrix_mad"), imported("")), (1, others), "{types:?} imports no other");
        }
    }
}

/// Returns MMA plans of one warp with 2-D block loads; rows have 64 bytes, the minimum for block loads.
pub fn mma_plans_with_block_loads(target: &ValidatedTarget) -> impl Iterator<Item = MmaPlan> {
    let types = [["f16", "f16", "f32"], ["bf16", "bf16", "f32"], ["i8", "i8", "i32"]];
    types.into_iter().flat_map(move |types| {
        let columns = if types[0] == "i8" { 64 } else { 32 };
        [[16, columns, 64], [8, columns, 128]].map(move |shape| {
            let plan = planned(target, &problem(target, shape, types).with_warps(1));
            assert!(plan.instruction().is_some_and(|row| row.starts_with("dpas")), "{types:?}: {}", plan.atom_name());
            plan
        })
    })
}

/// Returns the number of calls of block-load builtins, and the module for compilers without these builtins.
pub fn older(target: &ValidatedTarget, plan: &MmaPlan) -> (u64, Vec<u8>) {
    let calls = calls_of(&assembly(target, plan), "_2d_block_read_");
    assert!(calls >= 2, "both factors are loaded by blocks");
    (calls, rewrite_for_older_ocloc(&object(target, plan)).unwrap().expect("it loads blocks"))
}

/// Checks the module for older compilers, such as Debian 12's: functions of the compiler replace the builtins for 2-D
/// block loads.
#[test]
fn older_compilers_call_functions_for_block_loads() {
    let target = target("max1550");
    for plan in mma_plans_with_block_loads(&target) {
        let (_, older) = older(&target, &plan);
        assert_ne!(older, object(&target, &plan));
    }
    // Without block loads nothing changes.
    let single_warp = problem(&target, [8, 16, 16], ["f16", "f16", "f32"]).with_warps(1);
    assert_eq!(rewrite_for_older_ocloc(&object(&target, &planned(&target, &single_warp))).unwrap(), None);
}
