//! Dots of whole tiles: layouts of the `dpas` family, and calls of its builtin in the code.
#![allow(clippy::unwrap_used)]

#[path = "../../../framework/tests/dots/mod.rs"]
mod dots;

use dots::{assembly, described, is_of_families, proven, question, warps};
use tilewright::contract::{Contraction, Question};
use tilewright::layout::FamilySpec;
use tilewright::vendor::Target;
use tilewright_intel::IntelTarget;

fn targets() -> [IntelTarget; 2] {
    [("max1550", include_str!("../../../targets/max1550.toml")), ("b580", include_str!("../../../targets/b580.toml"))]
        .map(|(name, text)| IntelTarget::new(described(name, text)).unwrap())
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
            let asked = Question { k_width: Some(width), ..question(&target, [32, 64, 32], types) };
            let plan = proven(&target, &asked);
            let lanes = i64::from(target.description().lanes.default);
            is_of_families(&target, &plan, &dpas(&plan, bits, lanes), None);
        }
    }
}

#[test]
fn code_calls_the_builtin_as_often_as_the_plan_says() {
    for target in targets() {
        for types in [["f16", "f16", "f32"], ["i8", "i8", "i32"], ["i8", "e4m3", "f32"]] {
            let plan = proven(&target, &question(&target, [32, 64, 32], types));
            assert!(plan.row().is_some_and(|row| row.starts_with("dpas")), "{types:?}: {}", plan.unit_name());
            let text = assembly(&target, &plan);
            assert!(text.contains("matrix_mad"), "{text}");
            let calls = text.lines().filter(|line| line.contains("OpFunctionCall")).count() as u64;
            assert_eq!(calls, plan.cost.issues / plan.chunks(), "{types:?}");
        }
    }
}
