//! Shared-memory loads of `mfma` operands on CDNA 4 by transposing loads, if K is not contiguous in memory; and
//! conversions through scratch memory that use them. Access counts are those of Triton 3.9.0's code for the same
//! layouts. Wavefronts are computed by hand: an access has 512 bytes, and the banks serve 256 bytes to 32 lanes at
//! once.
#![allow(clippy::unwrap_used)]

use crate::targets::target;
use tilewright_plan::movement::ConversionKind;
use tilewright_vendor_testkit::accesses::layouts::{format_blocked_layout, resolve_distributed};
use tilewright_vendor_testkit::accesses::{Case, count, format_swizzled_layout};
use tilewright_vendor_testkit::prelude::*;

const TRANSPOSE_B16: &str = "ds_read_b64_tr_b16";
const TRANSPOSE_B8: &str = "ds_read_b64_tr_b8";

fn operand(index: u32, k_width: u32, instruction: [u64; 3], warps: [u64; 2]) -> String {
    format!(
        "#ttg.dot_op<{{opIdx = {index}, parent = #ttg.amd_mfma<{{version = 4, warpsPerCTA = {warps:?}, \
         instrShape = {instruction:?}, isTransposed = true}}>, kWidth = {k_width}}}>"
    )
}

const A: &[u64] = &[128, 64];

fn f16_case(name: &'static str, k_width: u32, instruction: [u64; 3], memory: String, wavefronts: u64) -> Case {
    let registers = operand(0, k_width, instruction, [2, 2]);
    Case { name, bits: 16, shape: A, registers, memory, by: Some(TRANSPOSE_B16), accesses: 16, wavefronts }
}

fn bytes(name: &'static str, instruction: [u64; 3]) -> Case {
    let registers = operand(0, 16, instruction, [2, 2]);
    let memory = format_swizzled_layout(1, 1, 1, [0, 1]);
    Case { name, bits: 8, shape: A, registers, memory, by: Some(TRANSPOSE_B8), accesses: 8, wavefronts: 32 }
}

fn loads() -> Vec<Case> {
    let plain = || format_swizzled_layout(1, 1, 1, [0, 1]);
    vec![
        // Along M, rows 32 and 64 apart are in other banks and in registers. Lanes 16 to 31 are eight columns of 256
        // bytes further, so two lanes conflict in each bank.
        f16_case("16x16x32", 8, [16, 16, 32], plain(), 64),
        // Columns are swizzled in units of eight bytes, so there are no conflicts.
        f16_case("16x16x32, swizzled", 8, [16, 16, 32], format_swizzled_layout(4, 1, 16, [0, 1]), 32),
        // Columns are padded by 16 bytes each, so there are no conflicts.
        f16_case(
            "16x16x32, padded",
            8,
            [16, 16, 32],
            "#ttg.padded_shared<[128:+8] {order = [0, 1], shape = [128, 64]}>".to_owned(),
            32,
        ),
        // Only rows 64 apart are in registers; the other register bits are columns.
        f16_case("32x32x16", 8, [32, 32, 16], plain(), 64),
        f16_case("16x16x16", 4, [16, 16, 16], plain(), 64),
        Case {
            name: "B of 16x16x32",
            shape: &[64, 128],
            registers: operand(1, 8, [16, 16, 32], [2, 2]),
            memory: format_swizzled_layout(1, 1, 1, [1, 0]),
            ..f16_case("", 8, [16, 16, 32], String::new(), 64)
        },
        bytes("bytes, 16x16x64", [16, 16, 64]),
        bytes("bytes, 32x32x32", [32, 32, 32]),
        // If K is contiguous, no transposition is needed.
        Case {
            by: None,
            accesses: 8,
            ..f16_case("K contiguous", 8, [16, 16, 32], format_swizzled_layout(1, 1, 1, [1, 0]), 128)
        },
    ]
}

#[test]
fn operands_are_loaded_by_what_transposes() {
    let target = target("mi355x");
    for case in loads() {
        let assembly = case.loaded(&target).assembly(&target);
        let expected = if case.by.is_some() { case.accesses } else { 0 };
        let found = count(&assembly, TRANSPOSE_B16) + count(&assembly, TRANSPOSE_B8);
        assert_eq!(found, expected, "{}: {assembly}", case.name);
    }
}

/// Checks that the offsets of a lane's accesses are immediates if the register bits of the addresses are disjoint from
/// the thread's bits.
#[test]
fn offsets_are_immediates() {
    let target = target("mi355x");
    let case = f16_case("16x16x32", 8, [16, 16, 32], format_swizzled_layout(1, 1, 1, [0, 1]), 64);
    let assembly = case.loaded(&target).assembly(&target);
    let loads = assembly.lines().map(str::trim).filter(|line| line.starts_with(TRANSPOSE_B16));
    let addresses = loads.map(|line| line.split_once(", ").unwrap().1.split_once(' ').unwrap_or((line, "")));
    let immediates: BTreeSet<&str> = addresses.map(|(_, offset)| offset).collect();
    assert_eq!(immediates.len(), 16, "{assembly}");
}

/// Checks that conversions to operands through scratch memory use transposing loads: rows of eight 16-bit elements
/// along M become runs along K, although no lane holds both at once.
#[test]
fn conversions_go_through_scratch_by_what_transposes() {
    let target = target("mi355x");
    let shape = [16, 32];
    let src = resolve_distributed(&target, &format_blocked_layout(&[8, 1], &[2, 32], &[1, 1], &[0, 1]), &shape);
    let dst = resolve_distributed(&target, &operand(0, 8, [16, 16, 32], [1, 1]), &shape);
    let shared = |context: PlanContext<'_>| -> ConversionPlan {
        let (plans, _) = conversion_candidates(&src, &dst, 16, context).unwrap();
        let plan = plans.into_iter().find(|plan| plan.path == ConversionKind::Shared).unwrap();
        build_conversion_case([&src, &dst], 16, &plan, context)
            .and_then(|case| check_emulated(&case, context))
            .unwrap();
        plan
    };
    let plain = shared(PlanContext::new(target.description()));
    let tiled = shared(build_plan_context(&target));
    // Of 1024 bytes: two loads of 512 bytes, each in two wavefronts, and eight stores of 128 bytes.
    assert_eq!((tiled.stats.counts.matrix_loads, tiled.stats.counts.wavefronts_loaded), (2, 4));
    assert_eq!((tiled.stats.counts.wavefronts_stored, tiled.stats.above_bound.as_deref()), (8, None));
    assert!(tiled.stats.cost < plain.stats.cost, "{plain:?}");
    let kernel = build_conversion_kernel("convert", [&src, &dst], 16, &tiled, build_plan_context(&target)).unwrap();
    let options = CompileOptions {
        emit: vec![CodeFormat::Assembly, CodeFormat::Object],
        optimisation: 2,
        ..CompileOptions::default()
    };
    let artifact = target.compile(&tilewright_kernel::Module { kernels: vec![kernel] }, &options).unwrap();
    assert_eq!(count(artifact.payload_text(CodeFormat::Assembly).unwrap(), TRANSPOSE_B16), 2);
}
