//! Dots by tensor memory MMAs and warpgroup MMAs: the assembler accepts their code and serializes none of it.

use super::ptxas::assemble;
use crate::prelude::*;
use tilewright_vendor_testkit::dots::{accumulating_assembly, planned, problem_with_warps};

fn assembled(target: &NvidiaTarget, architecture: &str, plan: &MmaPlan) -> String {
    let name = format!("{:?} by {}", [plan.problem.a, plan.problem.b], plan.atom_name());
    let log = assemble(&name, architecture, &accumulating_assembly(target, plan));
    assert!(log.contains("0 bytes spill stores, 0 bytes spill loads"), "{name}: {log}");
    log
}

pub fn tensor_memory_accumulators_are_assembled() {
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
        let plan = planned(&target, &problem_with_warps(shape, types, warps));
        assert!(plan.atom_name().starts_with("tcgen05.mma"), "{types:?} {shape:?}: {}", plan.atom_name());
        assembled(&target, "sm_100a", &plan);
    }
    let (mx, nv) = (BlockScale::from_name("e8m0"), BlockScale::from_name("ue4m3"));
    for (types, scales, shape) in [
        (["e4m3", "e5m2", "f32"], [mx, mx], [128, 64, 256]),
        (["e2m1", "e2m1", "f32"], [mx, mx], [128, 128, 128]),
        (["e2m1", "e2m1", "f32"], [nv, nv], [256, 64, 128]),
    ] {
        let plan = planned(&target, &problem_with_warps(shape, types, 4).with_scales(scales));
        let name = plan.atom_name();
        assert!(name.starts_with("tcgen05.mma") && name.contains("block_scale"), "{types:?} {shape:?}: {name}");
        assembled(&target, "sm_100a", &plan);
    }
}

/// Checks the assembler's messages for warpgroup MMAs: it prints C7510 or a similar code if it serializes MMAs, or if
/// it had to add fences or waits.
pub fn warpgroup_mmas_stay_in_flight() {
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
        let plan = planned(&target, &problem_with_warps(shape, types, warps));
        assert!(plan.atom_name().starts_with("wgmma"), "{types:?} {shape:?}: {}", plan.atom_name());
        let log = assembled(&target, "sm_90a", &plan);
        assert!(!log.contains("(C75"), "{types:?} {shape:?}: {log}");
    }
}
