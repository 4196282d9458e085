//! Dots of whole tiles: layouts of the `mfma` and `wmma` families, and their instructions in the code.
#![allow(clippy::unwrap_used)]

use crate::targets::target;
use tilewright_vendor_testkit::code::count;
use tilewright_vendor_testkit::dots::{
    assembly, check_layouts_match_families, check_scaled_dots, planned, problem, proven, warps,
};
use tilewright_vendor_testkit::prelude::*;

/// Returns M, N and K of an instruction, parsed from its name.
fn shape(row: &str) -> [i64; 3] {
    let word =
        row.split('_').find(|word| word.matches('x').count() == 2 && word.starts_with(|c: char| c.is_ascii_digit()));
    let digits = |field: &str| field.chars().take_while(char::is_ascii_digit).collect::<String>().parse().unwrap();
    let sizes: Vec<i64> = word.unwrap().split('x').map(digits).collect();
    sizes.try_into().unwrap()
}

fn mfma(plan: &MmaPlan, version: i64) -> FamilySpec {
    FamilySpec::new("amd_mfma")
        .with_parameter("version", version)
        .with_parameter("instr_shape", shape(plan.instruction().unwrap()))
        .with_parameter("transposed", false)
        .with_parameter("warps_per_cta", warps(plan))
        .with_parameter("element_bitwidth", i64::from(plan.problem.accumulator.bits()))
}

fn wmma(plan: &MmaPlan) -> FamilySpec {
    let [m, n] = plan.warp_partition();
    let units = |size: u64| (0..size.trailing_zeros()).map(|bit| 1i64 << bit);
    let bases: Vec<[i64; 2]> = units(n).map(|unit| [0, unit]).chain(units(m).map(|unit| [unit, 0])).collect();
    FamilySpec::new("amd_wmma")
        .with_parameter("version", 1i64)
        .with_parameter("instr_shape", shape(plan.instruction().unwrap()))
        .with_parameter("transposed", false)
        .with_parameter("warp_bases", FamilyParameterValue::from(&bases[..]))
}

/// Checks instructions on six-bit operands, with scales and without: the elements are packed in the registers of the
/// instruction.
#[test]
fn six_bit_operands_use_their_own_instructions() {
    let target = target("mi355x");
    for (types, scales, row) in [
        (["e2m3", "e2m3"], ["", ""], "f8f6f4(fp6,fp6)"),
        (["e3m2", "e2m3"], ["e8m0", "e8m0"], "f8f6f4(bf6,fp6)"),
        (["e3m2", "e4m3"], ["e8m0", ""], "f8f6f4(bf6,fp8)"),
        (["e2m1", "e3m2"], ["e8m0", "e8m0"], "f8f6f4(fp4,bf6)"),
    ] {
        let problem = problem(&target, [32, 64, 128], [types[0], types[1], "f32"]);
        let plan = proven(&target, &problem.with_scales(scales.map(BlockScale::from_name)));
        let found = plan.instruction().unwrap();
        assert!(found.ends_with(row) || plan.is_transposed(), "{types:?}: {found}");
        assert!(found.contains("fp6") || found.contains("bf6"), "{types:?}: {found}");
        assert!(assembly(&target, &plan).contains("_f8f6f4"), "{types:?}");
    }
}

/// Checks that unsigned operands and saturation each select an instruction of their own.
#[test]
fn signs_and_saturation_choose_the_row() {
    for name in ["rx7900xtx", "rx9070xt"] {
        let target = target(name);
        for (types, row) in [
            (["i8", "i8"], "_iu8"),
            (["u8", "i8"], "_iu8(u8,iu8)"),
            (["i8", "u8"], "_iu8(iu8,u8)"),
            (["u8", "u8"], "_iu8(u8,u8)"),
            (["u4", "s4"], "_iu4(u4,iu4)"),
        ] {
            let wrapping = problem(&target, [32, 32, 64], [types[0], types[1], "i32"]);
            let saturating = wrapping.clone().with_saturating(true);
            for (problem, clamp) in [(wrapping, ""), (saturating, "(clamp)")] {
                let plan = proven(&target, &problem);
                assert!(!plan.is_transposed(), "{types:?}");
                assert!(
                    plan.instruction().unwrap().ends_with(&format!("{row}{clamp}")),
                    "{types:?}: {:?}",
                    plan.instruction()
                );
                assert_eq!(assembly(&target, &plan).contains(" clamp"), !clamp.is_empty(), "{types:?}");
            }
        }
    }
}

#[test]
fn scaled_operands_use_scaled_instructions_or_are_scaled_first() {
    let by = |name: &str, shape, [a, b]: [&str; 2], scales: [&str; 2]| {
        let target = target(name);
        let requested = problem(&target, shape, [a, b, "f32"]).with_scales(scales.map(BlockScale::from_name));
        let plan = proven(&target, &requested);
        (plan.instruction().unwrap().to_owned(), assembly(&target, &plan))
    };
    for (types, row) in [
        (["e2m1", "e2m1"], "(fp4,fp4)"),
        (["e4m3", "e2m1"], "(fp8,fp4)"),
        (["e5m2", "e4m3"], "(bf8,fp8)"),
        (["e2m3", "e2m1"], "(fp6,fp4)"),
    ] {
        for scales in [["e8m0", "e8m0"], ["e8m0", ""]] {
            let (found, code) = by("mi355x", [64, 64, 256], types, scales);
            assert!(found.starts_with("v_mfma_scale_f32_") && found.ends_with(row), "{types:?}: {found}");
            let mnemonic = found.split('(').next().unwrap();
            assert!(code.contains(mnemonic), "{types:?}: no {mnemonic}");
        }
    }
    let (found, _) = by("mi355x", [32, 32, 64], ["e2m1", "bf16"], ["e8m0", ""]);
    assert!(found.ends_with("_bf16"), "{found}");
    let (found, code) = by("mi300x", [32, 32, 64], ["e2m1", "e4m3"], ["e8m0", "e8m0"]);
    assert!(found.ends_with("_bf16") && code.contains("v_mfma_f32_"), "{found}");
}

#[test]
fn every_pair_of_types_and_scales_has_a_valid_kernel() {
    for name in ["mi100", "mi250", "mi300x", "mi355x", "rx7900xtx", "rx9070xt"] {
        check_scaled_dots(&target(name), 37);
    }
}

#[test]
fn layouts_are_those_of_the_mfma_families_for_widths_along_k() {
    for (name, version, types, widths) in [
        ("mi250", 2, ["f16", "f16", "f32"], [4, 8]),
        ("mi250", 2, ["bf16", "bf16", "f32"], [4, 8]),
        ("mi250", 2, ["i8", "i8", "i32"], [4, 8]),
        ("mi355x", 4, ["f16", "f16", "f32"], [8, 8]),
        ("mi355x", 4, ["e4m3", "e5m2", "f32"], [8, 16]),
    ] {
        let target = target(name);
        for width in widths {
            let requested = problem(&target, [64, 64, 64], types).with_k_width(width);
            let plan = proven(&target, &requested);
            assert!(plan.instruction().unwrap().starts_with("v_mfma"), "{types:?}: {}", plan.atom_name());
            if !plan.instruction().unwrap().contains('(') && plan.k_width() == width {
                check_layouts_match_families(&target, &plan, &mfma(&plan, version), Some(width));
            }
        }
    }
}

#[test]
fn layouts_are_those_of_the_wmma_family() {
    let target = target("rx7900xtx");
    let requested = problem(&target, [64, 64, 32], ["f16", "f16", "f32"]).with_k_width(16);
    let plan = proven(&target, &requested);
    assert!(plan.instruction().unwrap().starts_with("v_wmma"), "{}", plan.atom_name());
    check_layouts_match_families(&target, &plan, &wmma(&plan), Some(16));
}

#[test]
fn code_has_the_instructions_of_the_plan() {
    for name in ["mi250", "mi355x", "rx7900xtx"] {
        let target = target(name);
        for types in [["f16", "f16", "f32"], ["i8", "i8", "i32"], ["i8", "e4m3", "f32"]] {
            let plan = proven(&target, &problem(&target, [64, 64, 64], types));
            let row = plan.instruction().unwrap_or_else(|| panic!("{name} {types:?} has an instruction"));
            let word = if row.starts_with("v_mfma") { "v_mfma" } else { "v_wmma" };
            let found = count(&assembly(&target, &plan), word);
            // Once for a chunk of K, or a multiple if the code generator unrolls the loop over chunks.
            let (of_chunk, all) = (plan.cost.issues / plan.chunk_count(), plan.cost.issues);
            assert!(found <= all && found.is_multiple_of(of_chunk) && found > 0, "{name} {types:?}: {found} {row}");
        }
    }
}

#[test]
fn numbers_of_64_and_32_bits_have_instructions_of_their_own() {
    let target = target("mi250");
    for (types, word) in [(["f64", "i32", "f64"], "f64"), (["f32", "i16", "f32"], "f32")] {
        let plan = proven(&target, &problem(&target, [32, 32, 32], types));
        assert!(plan.instruction().unwrap().ends_with(word), "{}", plan.atom_name());
    }
    assert!(!target.instructions().is_empty());
}

/// The instruction that a dot must use, for each target and types of A, B and result on CDNA 2, 3 and 4 and RDNA 3 and
/// 4: the one with the largest tile, and with the largest K among equal tiles, as named in the ISA manuals.
const EXPECTED: [(&str, [&str; 3], &str); 28] = [
    ("mi250", ["f16", "f16", "f32"], "v_mfma_f32_32x32x8f16"),
    ("mi250", ["bf16", "bf16", "f32"], "v_mfma_f32_32x32x8bf16_1k"),
    ("mi250", ["f32", "f32", "f32"], "v_mfma_f32_32x32x2f32"),
    ("mi250", ["f64", "f64", "f64"], "v_mfma_f64_16x16x4f64"),
    ("mi250", ["i8", "i8", "i32"], "v_mfma_i32_32x32x8i8"),
    ("mi250", ["e4m3", "e5m2", "f32"], "v_mfma_f32_16x16x16bf16_1k"),
    ("mi250", ["e4m3", "e4m3", "f32"], "v_mfma_f32_32x32x8f16"),
    ("mi300x", ["f16", "f16", "f32"], "v_mfma_f32_32x32x8_f16"),
    ("mi300x", ["bf16", "bf16", "f32"], "v_mfma_f32_32x32x8_bf16"),
    ("mi300x", ["f32", "f32", "f32"], "v_mfma_f32_32x32x2_f32"),
    ("mi300x", ["f64", "f64", "f64"], "v_mfma_f64_16x16x4_f64"),
    ("mi300x", ["i8", "i8", "i32"], "v_mfma_i32_32x32x16_i8"),
    ("mi300x", ["fp8_fnuz", "bf8_fnuz", "f32"], "v_mfma_f32_32x32x16_fp8_bf8"),
    ("mi355x", ["f16", "f16", "f32"], "v_mfma_f32_32x32x16_f16"),
    ("mi355x", ["bf16", "bf16", "f32"], "v_mfma_f32_32x32x16_bf16"),
    ("mi355x", ["f64", "f64", "f64"], "v_mfma_f64_16x16x4_f64"),
    ("mi355x", ["i8", "i8", "i32"], "v_mfma_i32_32x32x32_i8"),
    ("mi355x", ["e4m3", "e5m2", "f32"], "v_mfma_f32_32x32x64_f8f6f4"),
    ("rx7900xtx", ["f16", "f16", "f32"], "v_wmma_f32_16x16x16_f16"),
    ("rx7900xtx", ["bf16", "bf16", "f32"], "v_wmma_f32_16x16x16_bf16"),
    ("rx7900xtx", ["f16", "f16", "f16"], "v_wmma_f16_16x16x16_f16"),
    ("rx7900xtx", ["bf16", "bf16", "bf16"], "v_wmma_bf16_16x16x16_bf16"),
    ("rx7900xtx", ["i8", "i8", "i32"], "v_wmma_i32_16x16x16_iu8"),
    ("rx7900xtx", ["e4m3", "e5m2", "f32"], "v_wmma_f32_16x16x16_f16"),
    ("rx9070xt", ["f16", "f16", "f32"], "v_wmma_f32_16x16x16_f16"),
    ("rx9070xt", ["bf16", "bf16", "f32"], "v_wmma_f32_16x16x16_bf16"),
    ("rx9070xt", ["e4m3", "e5m2", "f32"], "v_wmma_f32_16x16x16_fp8_bf8"),
    ("rx9070xt", ["i8", "i8", "i32"], "v_wmma_i32_16x16x16_iu8"),
];

#[test]
fn code_has_the_densest_instruction_of_the_types() {
    for (name, types, word) in EXPECTED {
        let target = target(name);
        let plan = planned(&target, &problem(&target, [64, 64, 64], types));
        let code = assembly(&target, &plan);
        let mma_count = count(&code, "v_mfma") + count(&code, "v_wmma");
        assert!(mma_count > 0 && count(&code, word) == mma_count, "{name} {types:?} by {}: {code}", plan.atom_name());
    }
}

/// Checks dots on a target whose `f16` instructions replace subnormal numbers by zero, which a cast from `e5m2` gives.
#[test]
fn operands_that_are_cast_keep_their_subnormal_numbers() {
    let target = target("mi250");
    for (types, row) in [(["e5m2", "e5m2"], "bf16_1k"), (["e5m2", "e2m1"], "bf16_1k"), (["f16", "e5m2"], "f32")] {
        let problem = problem(&target, [32, 32, 32], [types[0], types[1], "f32"]);
        let plan = proven(&target, &problem);
        assert!(plan.instruction().is_some_and(|name| name.ends_with(row)), "{types:?}: {}", plan.atom_name());
        let by_f16 = problem.with_atom("v_mfma_f32_32x32x8f16".to_owned());
        let error = mma::plan_mma(&by_f16, build_plan_context(&target)).unwrap_err().to_string();
        assert!(error.contains("subnormal"), "{types:?}: {error}");
    }
}
