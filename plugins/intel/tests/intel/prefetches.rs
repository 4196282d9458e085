//! 2-D block prefetches: their instructions, the choice of one for a tile, their effect, and their code.
#![allow(clippy::unwrap_used)]

use crate::validated_target::target;
use tilewright_intel_tables::instructions::instructions_of;
use tilewright_plan::movement::{PrefetchPlan, PrefetchSpec, plan_prefetch};
use tilewright_vendor_testkit::prelude::*;
use tilewright_verify::kernels::{PrefetchDistance, build_prefetch_kernel};
use tilewright_verify::{CheckFailure, build_prefetch_case};

/// Returns a prefetch problem: three tiles along the rows of a matrix that is as wide as a tile.
fn problem(tile: [u64; 2], element_bits: u32, warps: u64) -> PrefetchSpec {
    let [rows, columns] = tile;
    PrefetchSpec::new(tile, [3 * rows, columns], element_bits).with_alignment(64).with_warps(warps)
}

/// Checks the block sizes against the compiler's tests of SPV_INTEL_2d_block_io for this architecture: 1 to 32 rows;
/// columns are 32 of 8 bits, 16 of 16 bits or 8 of 32 bits, each in one and two blocks, and 16 of 32 bits in one block.
#[test]
fn blocks_are_those_of_the_compiler() {
    let listed = instructions_of("pvc").into_iter().filter(|row| row.kind == InstructionKind::Prefetch);
    let found: BTreeSet<[u32; 3]> = listed
        .filter_map(|row| match &row.operands[0] {
            InstructionOperand::Block(block) => Some([block.element_bits, block.rows, block.columns]),
            _ => None,
        })
        .collect();
    let names: BTreeSet<String> = instructions_of("pvc").into_iter().map(|row| row.name).collect();
    for name in ["8b_32r32x2c", "16b_8r16x1c", "16b_32r16x2c", "32b_16r8x1c", "32b_1r16x1c"] {
        assert!(names.contains(&format!("intel_sub_group_2d_block_prefetch_{name}")), "{name}");
    }
    let columns = [(8, [32, 64]), (16, [16, 32]), (32, [8, 16])];
    let each = columns.into_iter().flat_map(|(bits, columns)| columns.map(|columns| (bits, columns)));
    let expected: BTreeSet<_> =
        each.flat_map(|(bits, columns)| [1, 2, 4, 8, 16, 32].map(|rows| [bits, rows, columns])).collect();
    assert_eq!(found, expected);
    assert!(instructions_of("dg2").iter().all(|row| row.kind != InstructionKind::Prefetch));
}

#[test]
fn the_fewest_blocks_are_chosen_and_shared_out() {
    let target = target("max1550");
    for (tile, bits, warps, name, issues) in [
        ([32, 32], 16, 1, "16b_32r16x2c", 1),
        ([128, 64], 16, 1, "16b_32r16x2c", 8),
        ([128, 64], 16, 4, "16b_32r16x2c", 2),
        // One of the sixteen warps suffices for the tile.
        ([8, 32], 16, 16, "16b_8r16x2c", 1),
        ([64, 64], 8, 2, "8b_32r32x2c", 1),
        // Elements of 64 bits are two columns of 32 bits.
        ([16, 8], 64, 1, "32b_16r16x1c", 1),
    ] {
        let plan = plan_prefetch(&problem(tile, bits, warps), build_plan_context(&target)).unwrap();
        let expected = (format!("intel_sub_group_2d_block_prefetch_{name}"), issues);
        assert_eq!((plan.instruction, plan.counts.prefetches), expected, "{tile:?} of {bits} bits, {warps} warps");
    }
}

#[test]
fn matrices_that_cannot_be_named_are_refused_with_the_reason() {
    let max = target("max1550");
    let good = problem([8, 32], 16, 1);
    let of = |matrix, pitch| PrefetchSpec::new([8, 32], matrix, 16).with_pitch(pitch).with_alignment(64);
    let refusal = |problem: PrefetchSpec| match plan_prefetch(&problem, build_plan_context(&max)) {
        Err(MovementError::Impossible { reasons }) => reasons,
        other => panic!("{problem:?}: {other:?}"),
    };
    assert!(refusal(good.with_alignment(32)).contains("not a multiple of 64 bytes"));
    assert!(refusal(of([8, 16], 32)).contains("rows of 32 bytes"));
    assert!(refusal(of([8, 33], 64)).contains("rows of 66 bytes"));
    assert!(refusal(good.with_pitch(36)).contains("72 bytes from row to row"));
    assert!(refusal(good.with_pitch(24)).contains("48 bytes from row to row"));
    assert!(refusal(of([0, 32], 32)).contains("0 rows"));
    assert!(refusal(of([8, 1 << 24], 1 << 24)).contains("rows of 33554432 bytes"));
    assert!(refusal(problem([8, 32], 4, 1)).contains("has elements of 4 bits: expected a multiple of its 8"));
    let odd = plan_prefetch(&problem([3, 32], 16, 1), build_plan_context(&max));
    assert!(matches!(odd, Err(MovementError::Memory { reason }) if reason.contains("3 is not a size")));
    let older = target("a770");
    let none = plan_prefetch(&good, build_plan_context(&older));
    assert!(matches!(none, Err(MovementError::Impossible { reasons }) if reasons.contains("no prefetch instruction")));
}

fn proven(plan: &PrefetchPlan, distance: PrefetchDistance) -> Result<tilewright_emulator::RunReport, CheckFailure> {
    let target = target("max1550");
    build_prefetch_case(plan, 16, distance, build_plan_context(&target))
        .and_then(|case| check_emulated(&case, build_plan_context(&target)))
}

/// Checks that all bytes of a matrix of three tiles are prefetched, with and without padding between its rows.
#[test]
fn every_byte_is_prefetched_before_it_is_loaded() {
    let target = target("max1550");
    for (tile, bits, warps) in [([32, 32], 16, 1), ([64, 64], 8, 4), ([8, 64], 32, 16), ([128, 32], 64, 2)] {
        let plan = plan_prefetch(&problem(tile, bits, warps), build_plan_context(&target)).unwrap();
        for distance in [1, 3] {
            let report =
                proven(&plan, PrefetchDistance::in_tiles(distance)).unwrap_or_else(|wrong| panic!("{plan:?}: {wrong}"));
            assert_eq!(report.counts.prefetches, plan.counts.prefetches * u64::from(3 + distance));
            assert!(report.sectors_prefetched > 0);
        }
        let pitched = problem(tile, bits, warps).with_pitch(2 * tile[1]);
        let between = plan_prefetch(&pitched, build_plan_context(&target)).unwrap();
        let report =
            proven(&between, PrefetchDistance::in_tiles(2)).unwrap_or_else(|wrong| panic!("{between:?}: {wrong}"));
        assert_eq!(report.counts.prefetches, between.counts.prefetches * 5);
        let wrong = proven(&plan, PrefetchDistance { tiles: 1, is_misaligned: true }).unwrap_err();
        assert!(matches!(&wrong, CheckFailure::Fault(fault) if matches!(fault.kind, FaultKind::Instruction { .. })));
    }
}

/// Checks that the code calls the OpenCL extension's builtin, mangled as by the Itanium C++ ABI, once for each issue.
#[test]
fn code_calls_the_builtin() {
    let target = target("max1550");
    let plan = plan_prefetch(&problem([64, 32], 16, 1), build_plan_context(&target)).unwrap();
    let kernel = build_prefetch_kernel(&plan, 16, PrefetchDistance::in_tiles(1), build_plan_context(&target)).unwrap();
    let options = CompileOptions { emit: vec![CodeFormat::Assembly, CodeFormat::Object], ..CompileOptions::default() };
    let artifact = target.compile(&Module { kernels: vec![kernel] }, &options).unwrap();
    let text = artifact.payload_text(CodeFormat::Assembly).unwrap();
    let count = |word: &str| text.lines().filter(|line| line.contains(word)).count();
    assert!(text.contains("\"_Z46intel_sub_group_2d_block_prefetch_16b_32r16x2cPU3AS1viiiDv2_i\""), "{text}");
    // Two blocks before the loop, two in it.
    assert_eq!((count("OpFunctionCall"), count("LinkageAttributes")), (4, 1), "{text}");
}
