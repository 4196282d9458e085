//! Prefetches of blocks: which there are, which are chosen for a tile, what they do, and their code.
#![allow(clippy::unwrap_used)]

use crate::validated_target::target;
use tilewright_intel::instructions::rows;
use tilewright_plan::movement::{Prefetch, PrefetchSpec, prefetch};
use tilewright_vendor_testkit::prelude::*;
use tilewright_verify::kernels::{Ahead, prefetched_kernel};
use tilewright_verify::{CheckFailure, prefetch_case};

/// Three tiles below each other, as wide as the matrix.
fn problem(tile: [u64; 2], element_bits: u32, warps: u64) -> PrefetchSpec {
    let [rows, columns] = tile;
    PrefetchSpec { tile, matrix: [3 * rows, columns], pitch: columns, element_bits, alignment: 64, warps }
}

/// The compiler's tests of SPV_INTEL_2d_block_io for this architecture: rows of 1 to 32; of 8 bits 32 columns, of 16 bits
/// 16, of 32 bits 8, each once and twice, and of 32 bits 16.
#[test]
fn blocks_are_those_of_the_compiler() {
    let listed = rows("pvc").into_iter().filter(|row| row.kind == InstructionKind::Prefetch);
    let found: BTreeSet<[u32; 3]> = listed
        .filter_map(|row| match &row.operands[0] {
            Operand::Block(block) => Some([block.element_bits, block.rows, block.columns]),
            _ => None,
        })
        .collect();
    let names: BTreeSet<String> = rows("pvc").into_iter().map(|row| row.name).collect();
    for name in ["8b_32r32x2c", "16b_8r16x1c", "16b_32r16x2c", "32b_16r8x1c", "32b_1r16x1c"] {
        assert!(names.contains(&format!("intel_sub_group_2d_block_prefetch_{name}")), "{name}");
    }
    let columns = [(8, [32, 64]), (16, [16, 32]), (32, [8, 16])];
    let each = columns.into_iter().flat_map(|(bits, columns)| columns.map(|columns| (bits, columns)));
    let expected: BTreeSet<_> =
        each.flat_map(|(bits, columns)| [1, 2, 4, 8, 16, 32].map(|rows| [bits, rows, columns])).collect();
    assert_eq!(found, expected);
    assert!(rows("dg2").iter().all(|row| row.kind != InstructionKind::Prefetch));
}

#[test]
fn the_fewest_blocks_are_chosen_and_shared_out() {
    let target = target("max1550");
    for (tile, bits, warps, name, issues) in [
        ([32, 32], 16, 1, "16b_32r16x2c", 1),
        ([128, 64], 16, 1, "16b_32r16x2c", 8),
        ([128, 64], 16, 4, "16b_32r16x2c", 2),
        // One warp's is enough of sixteen.
        ([8, 32], 16, 16, "16b_8r16x2c", 1),
        ([64, 64], 8, 2, "8b_32r32x2c", 1),
        // Elements of 64 bits are two columns of 32.
        ([16, 8], 64, 1, "32b_16r16x1c", 1),
    ] {
        let plan = prefetch(&problem(tile, bits, warps), context(&target)).unwrap();
        let expected = (format!("intel_sub_group_2d_block_prefetch_{name}"), issues);
        assert_eq!((plan.instruction, plan.counts.prefetches), expected, "{tile:?} of {bits} bits, {warps} warps");
    }
}

#[test]
fn matrices_that_cannot_be_named_are_refused_with_the_reason() {
    let max = target("max1550");
    let good = problem([8, 32], 16, 1);
    let said = |problem: PrefetchSpec| match prefetch(&problem, context(&max)) {
        Err(MovementError::Impossible { reasons }) => reasons,
        other => panic!("{problem:?}: {other:?}"),
    };
    assert!(said(PrefetchSpec { alignment: 32, ..good }).contains("no multiple of 64 bytes"));
    assert!(said(PrefetchSpec { matrix: [8, 16], ..good }).contains("rows of 32 bytes"));
    assert!(said(PrefetchSpec { matrix: [8, 33], pitch: 64, ..good }).contains("rows of 66 bytes"));
    assert!(said(PrefetchSpec { pitch: 36, ..good }).contains("72 bytes from row to row"));
    assert!(said(PrefetchSpec { pitch: 24, ..good }).contains("48 bytes from row to row"));
    assert!(said(PrefetchSpec { matrix: [0, 32], ..good }).contains("0 rows"));
    assert!(said(PrefetchSpec { matrix: [8, 1 << 24], pitch: 1 << 24, ..good }).contains("rows of 33554432 bytes"));
    let odd = prefetch(&PrefetchSpec { tile: [3, 32], ..good }, context(&max));
    assert!(matches!(odd, Err(MovementError::Memory { reason }) if reason.contains("3 is no size")));
    let older = target("a770");
    let none = prefetch(&good, context(&older));
    assert!(matches!(none, Err(MovementError::Impossible { reasons }) if reasons.contains("no row that prefetches")));
}

fn proven(plan: &Prefetch, ahead: Ahead) -> Result<tilewright_emulator::RunReport, CheckFailure> {
    let target = target("max1550");
    prefetch_case(plan, 16, ahead, context(&target)).and_then(|case| check_emulated(&case, context(&target)))
}

/// Of a matrix that ends within the last tile, too, all is prefetched, and nothing beyond it is touched.
#[test]
fn every_byte_is_prefetched_before_it_is_loaded() {
    let target = target("max1550");
    for (tile, bits, warps) in [([32, 32], 16, 1), ([64, 64], 8, 4), ([8, 64], 32, 16), ([128, 32], 64, 2)] {
        let plan = prefetch(&problem(tile, bits, warps), context(&target)).unwrap();
        for ahead in [1, 3] {
            let report = proven(&plan, Ahead::by(ahead)).unwrap_or_else(|wrong| panic!("{plan:?}: {wrong}"));
            assert_eq!(report.counts.prefetches, plan.counts.prefetches * u64::from(3 + ahead));
            assert!(report.units_prefetched > 0);
        }
        let pitched = PrefetchSpec { pitch: 2 * tile[1], ..problem(tile, bits, warps) };
        let between = prefetch(&pitched, context(&target)).unwrap();
        let report = proven(&between, Ahead::by(2)).unwrap_or_else(|wrong| panic!("{between:?}: {wrong}"));
        assert_eq!(report.counts.prefetches, between.counts.prefetches * 5);
        let wrong = proven(&plan, Ahead { tiles: 1, is_misaligned: true }).unwrap_err();
        assert!(matches!(&wrong, CheckFailure::Fault(fault) if matches!(fault.kind, FaultKind::Instruction { .. })));
    }
}

/// The OpenCL extension's builtin, mangled as by the Itanium C++ ABI, called once for each issue.
#[test]
fn code_calls_the_builtin() {
    let target = target("max1550");
    let plan = prefetch(&problem([64, 32], 16, 1), context(&target)).unwrap();
    let kernel = prefetched_kernel(&plan, 16, Ahead::by(1), context(&target)).unwrap();
    let options = CompileOptions { emit: vec![Emit::Assembly, Emit::Object], ..CompileOptions::default() };
    let artifact = target.compile(&Module { kernels: vec![kernel] }, &options).unwrap();
    let text = artifact.text(Emit::Assembly).unwrap();
    let count = |word: &str| text.lines().filter(|line| line.contains(word)).count();
    assert!(text.contains("\"_Z46intel_sub_group_2d_block_prefetch_16b_32r16x2cPU3AS1viiiDv2_i\""), "{text}");
    // Two blocks before the loop, two in it.
    assert_eq!((count("OpFunctionCall"), count("LinkageAttributes")), (4, 1), "{text}");
}
