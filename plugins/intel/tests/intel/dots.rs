//! Dots of whole tiles: layouts of the `dpas` family, and calls of its builtin in the code.
#![allow(clippy::unwrap_used)]

use crate::validated_target::{ValidatedTarget, target};
use tilewright_intel::compile::offline::for_older_compilers;
use tilewright_vendor_testkit::dots::{assembly, is_of_families, object, planned, problem, proven, warps};
use tilewright_vendor_testkit::prelude::*;

fn targets() -> [ValidatedTarget; 2] {
    ["max1550", "b580"].map(target)
}

fn dpas(plan: &Contraction, element_bits: u32, lanes: i64) -> FamilySpec {
    let row = plan.row().unwrap();
    let repeat: i64 = row.strip_prefix("dpas.8x").and_then(|rest| rest.split('.').next()).unwrap().parse().unwrap();
    FamilySpec::new("dpas")
        .with("repeat_count", repeat)
        .with("systolic_depth", 8i64)
        .with("execution_size", 16i64)
        .with("ops_per_channel", 32 / i64::from(element_bits))
        .with("threads_per_warp", lanes)
        .with("warps_per_cta", warps(plan))
        .with("rep_cluster", [1i64, 1])
}

#[test]
fn layouts_are_those_of_the_dpas_family() {
    for target in targets() {
        // Of K, a lane has in registers of both factors: nothing of 16-bit elements, of bytes two.
        for (types, bits, width) in
            [(["f16", "f16", "f32"], 16, 1), (["bf16", "bf16", "f32"], 16, 1), (["i8", "i8", "i32"], 8, 2)]
        {
            let requested = MmaProblem { k_width: Some(width), ..problem(&target, [32, 32, 32], types) };
            let plan = proven(&target, &requested);
            let lanes = i64::from(target.description().lanes.default);
            is_of_families(&target, &plan, &dpas(&plan, bits, lanes), None);
        }
    }
}

/// Calls of imported functions whose names have a word in them.
fn calls_of(text: &str, word: &str) -> u64 {
    let imported = text.lines().filter(|line| line.contains("LinkageAttributes") && line.contains(word));
    let ids: Vec<&str> =
        imported.filter_map(|line| line.split_whitespace().find(|word| word.starts_with('%'))).collect();
    let calls = text.lines().filter(|line| line.contains("OpFunctionCall"));
    calls.filter(|line| ids.iter().any(|id| line.split_whitespace().any(|word| word == *id))).count() as u64
}

#[test]
fn code_calls_the_builtin_as_often_as_the_plan_says() {
    for target in targets() {
        for types in [["f16", "f16", "f32"], ["i8", "i8", "i32"], ["i8", "e4m3", "f32"]] {
            let plan = proven(&target, &problem(&target, [32, 64, 32], types));
            assert!(plan.row().is_some_and(|row| row.starts_with("dpas")), "{types:?}: {}", plan.unit_name());
            let text = assembly(&target, &plan);
            assert!(text.contains("matrix_mad"), "{text}");
            assert_eq!(calls_of(&text, "matrix_mad"), plan.cost.issues / plan.chunks(), "{types:?}");
        }
    }
}

#[test]
fn code_imports_the_builtin_of_the_types() {
    // cl_intel_subgroup_matrix_multiply_accumulate and its extensions for f16 and bf16 sums: names, and how compilers of
    // OpenCL C mangle their arguments, for eight rows and sub-groups of 16.
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
            assert!(text.contains(&format!("\"{builtin}\"")), "{types:?} by {}: {text}", plan.unit_name());
            let imported = |word: &str| {
                text.lines().filter(|line| line.contains("LinkageAttributes") && line.contains(word)).count()
            };
            let others = imported("_2d_block_read_") + imported("matrix_mad");
            assert_eq!((imported("matrix_mad"), imported("")), (1, others), "{types:?} imports no other");
        }
    }
}

/// Products of one warp of which blocks are loaded: rows of 64 bytes, the least that blocks are loaded of.
pub fn products_of_blocks(target: &ValidatedTarget) -> impl Iterator<Item = Contraction> {
    let types = [["f16", "f16", "f32"], ["bf16", "bf16", "f32"], ["i8", "i8", "i32"]];
    types.into_iter().flat_map(move |types| {
        let columns = if types[0] == "i8" { 64 } else { 32 };
        [[16, columns, 64], [8, columns, 128]].map(move |shape| {
            let plan = planned(target, &MmaProblem { warps: 1, ..problem(target, shape, types) });
            assert!(plan.row().is_some_and(|row| row.starts_with("dpas")), "{types:?}: {}", plan.unit_name());
            plan
        })
    })
}

/// Calls of builtins that load blocks, and the module that compilers take which are older than these.
pub fn older(target: &ValidatedTarget, plan: &Contraction) -> (u64, Vec<u8>) {
    let calls = calls_of(&assembly(target, plan), "_2d_block_read_");
    assert!(calls >= 2, "both factors are loaded by blocks");
    (calls, for_older_compilers(&object(target, plan)).unwrap().expect("it loads blocks"))
}

/// Debian 12's compiler knows no builtins for loads of blocks, but functions of its own, which take their place.
#[test]
fn older_compilers_have_functions_in_the_place_of_loads_of_blocks() {
    let target = target("max1550");
    for plan in products_of_blocks(&target) {
        let (_, older) = older(&target, &plan);
        assert_ne!(older, object(&target, &plan));
    }
    // Without loads of blocks nothing changes.
    let lone = MmaProblem { warps: 1, ..problem(&target, [8, 16, 16], ["f16", "f16", "f32"]) };
    assert_eq!(for_older_compilers(&object(&target, &planned(&target, &lone))).unwrap(), None);
}
