//! Dots on tensor memory and by warpgroups: the assembler takes their code, and serialises none of it.

use super::ptxas::assemble;
use crate::prelude::*;
use tilewright_vendor_testkit::dots::{accumulating_assembly, planned, question_of};

fn assembled(target: &NvidiaTarget, architecture: &str, plan: &Contraction) -> String {
    let name = format!("{:?} by {}", [plan.problem.a, plan.problem.b], plan.unit_name());
    let said = assemble(&name, architecture, &accumulating_assembly(target, plan));
    assert!(said.contains("0 bytes spill stores, 0 bytes spill loads"), "{name}: {said}");
    said
}

pub fn sums_in_tensor_memory_are_assembled() {
    let target = target("b200");
    for (types, shape, warps) in [
        (["f16", "f16", "f32"], [64, 64, 64], 4),
        (["f16", "f16", "f32"], [128, 128, 64], 4),
        (["f16", "f16", "f16"], [256, 64, 64], 8),
        (["bf16", "bf16", "f32"], [64, 32, 512], 4),
        (["e4m3", "e5m2", "f32"], [128, 32, 64], 4),
        (["i8", "u8", "i32"], [64, 64, 64], 4),
        (["i8", "f16", "f32"], [64, 64, 64], 4),
    ] {
        let plan = planned(&target, &question_of(shape, types, warps));
        assert!(plan.unit_name().starts_with("tcgen05.mma"), "{types:?} {shape:?}: {}", plan.unit_name());
        assembled(&target, "sm_100a", &plan);
    }
    let (mx, nv) = (Scale::named("e8m0"), Scale::named("ue4m3"));
    for (types, scales, shape) in [
        (["e4m3", "e5m2", "f32"], [mx, mx], [128, 64, 256]),
        (["e2m1", "e2m1", "f32"], [mx, mx], [128, 128, 128]),
        (["e2m1", "e2m1", "f32"], [nv, nv], [256, 64, 128]),
    ] {
        let plan = planned(&target, &question_of(shape, types, 4).with_scales(scales));
        let name = plan.unit_name();
        assert!(name.starts_with("tcgen05.mma") && name.contains("block_scale"), "{types:?} {shape:?}: {name}");
        assembled(&target, "sm_100a", &plan);
    }
}

/// The assembler says C7510 and the like where products wait for each other, or where it had to add fences or waits.
pub fn products_of_four_warps_stay_under_way() {
    let target = target("h100");
    for (types, shape, warps) in [
        (["f16", "f16", "f32"], [64, 64, 64], 4),
        (["f16", "f16", "f32"], [128, 128, 64], 4),
        (["f16", "f16", "f32"], [64, 256, 64], 4),
        (["f16", "f16", "f16"], [128, 64, 64], 8),
        (["bf16", "bf16", "f32"], [64, 32, 512], 4),
        (["e4m3", "e5m2", "f32"], [128, 32, 64], 4),
        (["i8", "u8", "i32"], [64, 64, 64], 4),
        (["i8", "f16", "f32"], [64, 64, 64], 4),
        (["f16", "e4m3", "f32"], [128, 32, 64], 4),
    ] {
        let plan = planned(&target, &question_of(shape, types, warps));
        assert!(plan.unit_name().starts_with("wgmma"), "{types:?} {shape:?}: {}", plan.unit_name());
        let said = assembled(&target, "sm_90a", &plan);
        assert!(!said.contains("(C75"), "{types:?} {shape:?}: {said}");
    }
}
