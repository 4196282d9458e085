//! Dots of whole tiles: layouts of the `nvidia_mma` family, and `mma.sync` and `ldmatrix` in the code.

use crate::layouts::{mma, spec};
use crate::prelude::*;
use tilewright_vendor_testkit::code::count;
use tilewright_vendor_testkit::dots::{assembly, check_layouts_match_families, planned, problem, proven};

/// Returns the parameters of the layout of a plan's result.
fn result(plan: &MmaPlan) -> FamilySpec {
    let shape = if plan.instruction().unwrap().contains("m8n8") { [8, 8] } else { [16, 8] };
    spec(&mma(2, &plan.warp_partition(), &shape))
}

#[test]
fn layouts_are_those_of_the_mma_families_for_each_width_along_k() {
    for name in ["a100", "b200"] {
        let target = target(name);
        for (types, widths) in [
            (["f16", "f16", "f32"], vec![2, 4, 8]),
            (["bf16", "bf16", "f32"], vec![2, 4]),
            (["i8", "i8", "i32"], vec![4, 8]),
            (["i8", "f16", "f32"], vec![2, 4]),
        ] {
            for width in widths {
                let requested = problem(&target, [64, 64, 64], types).with_k_width(width);
                let plan = proven(&target, &requested);
                assert!(plan.instruction().unwrap().starts_with("mma.sync") && !plan.is_transposed());
                check_layouts_match_families(&target, &plan, &result(&plan), Some(width));
            }
        }
    }
}

#[test]
fn code_has_the_mmas_and_the_matrix_loads_of_the_plan() {
    for name in ["a100", "b200"] {
        let target = target(name);
        let mut by_matrix = 0;
        for types in [["f16", "f16", "f32"], ["bf16", "bf16", "f32"], ["i8", "i8", "i32"], ["f64", "f64", "f64"]] {
            // M is too small for accumulators in tensor memory.
            let plan = proven(&target, &problem(&target, [32, 64, 64], types));
            let ptx = assembly(&target, &plan);
            assert_eq!(count(&ptx, "mma.sync"), plan.cost.issues / plan.chunk_count(), "{types:?}");
            assert_eq!(count(&ptx, plan.instruction().unwrap()), plan.cost.issues / plan.chunk_count());
            let operand_loads = plan.plan_operand_loads(build_plan_context(&target)).unwrap();
            let conversions = operand_loads.iter().filter_map(|operand_load| operand_load.conversion.as_ref());
            let loads = conversions.map(|conversion| conversion.stats.counts.matrix_loads).sum::<u64>();
            assert_eq!(count(&ptx, "ldmatrix"), loads, "{types:?}");
            by_matrix += loads;
        }
        assert!(by_matrix > 0, "{name}");
    }
}

#[test]
fn types_that_no_row_has_are_cast_or_go_to_plain_multiply_adds() {
    let target = target("a100");
    let by = |types| proven(&target, &problem(&target, [32, 32, 32], types)).instruction().map(str::to_owned);
    assert_eq!(by(["i8", "e4m3", "f32"]).unwrap(), "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32");
    assert_eq!(by(["i32", "f16", "f64"]).unwrap(), "mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64");
    // tf32 cannot represent all binary32 numbers.
    assert_eq!(by(["f32", "f32", "f32"]), None);
    assert_eq!(by(["i16", "f16", "f32"]), None);
}

/// Shapes [M, N, K] of the tested dots, from one instruction's shape up to several instructions of a block.
const SHAPES: [[u64; 3]; 7] =
    [[32, 32, 32], [32, 64, 32], [64, 64, 64], [128, 64, 64], [64, 32, 128], [128, 128, 64], [128, 128, 128]];

#[test]
fn sixteen_bit_operands_in_shared_memory_are_loaded_by_ldmatrix() {
    let target = target("a100");
    for shape in SHAPES {
        for types in [["f16", "f16", "f32"], ["bf16", "bf16", "f32"], ["f16", "f16", "f16"], ["i8", "f16", "f32"]] {
            let plan = planned(&target, &problem(&target, shape, types));
            let ptx = assembly(&target, &plan);
            assert!(count(&ptx, "mma.sync") > 0 && count(&ptx, "fma.") == 0, "{shape:?} {types:?}");
            let (mut matrix_loads, mut others) = (0, 0);
            for (operand_load, number) in plan
                .plan_operand_loads(build_plan_context(&target))
                .unwrap()
                .iter()
                .zip([plan.problem.a, plan.problem.b])
            {
                let Some(counts) = operand_load.conversion.as_ref().map(|conversion| conversion.stats.counts) else {
                    // A lane's elements are contiguous in memory, so plain loads suffice.
                    continue;
                };
                (matrix_loads, others) = (matrix_loads + counts.matrix_loads, others + counts.shared_loads);
                if number.bits() == 16 && operand_load.uses_shared() {
                    assert_eq!(counts.shared_loads, 0, "{shape:?} {types:?}: {counts:?}");
                    assert!(counts.matrix_loads > 0, "{shape:?} {types:?}: {counts:?}");
                }
            }
            assert!(matrix_loads > 0, "{shape:?} {types:?}: at least B goes through shared memory");
            assert_eq!(count(&ptx, "ldmatrix"), matrix_loads, "{shape:?} {types:?}");
            assert!(count(&ptx, "ld.shared") <= others, "{shape:?} {types:?}: {ptx}");
        }
    }
}

#[test]
fn instructions_are_those_of_the_types() {
    // PTX ISA, mma: the largest shape of each pair of types on the compute capability.
    for (name, types, row) in [
        ("a100", ["f16", "f16", "f32"], "m16n8k16.row.col.f32.f16.f16.f32"),
        ("a100", ["f16", "f16", "f16"], "m16n8k16.row.col.f16.f16.f16.f16"),
        ("a100", ["bf16", "bf16", "f32"], "m16n8k16.row.col.f32.bf16.bf16.f32"),
        ("a100", ["f64", "f64", "f64"], "m8n8k4.row.col.f64.f64.f64.f64"),
        ("a100", ["i8", "i8", "i32"], "m16n8k32.row.col.s32.s8.s8.s32"),
        ("a100", ["u8", "i8", "i32"], "m16n8k32.row.col.s32.u8.s8.s32"),
        ("a100", ["e4m3", "e4m3", "f32"], "m16n8k16.row.col.f32.f16.f16.f32"),
    ] {
        let target = target(name);
        let plan = planned(&target, &problem(&target, [64, 64, 64], types));
        let word = format!("mma.sync.aligned.{row}");
        assert_eq!(plan.instruction(), Some(word.as_str()), "{name} {types:?}");
        assert!(count(&assembly(&target, &plan), &word) > 0, "{name} {types:?}");
    }
}
