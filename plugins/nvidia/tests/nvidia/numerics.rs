//! Numerics (summation order and rounding) of `mma` compared with published measurements.

use crate::prelude::*;
use tilewright_target::Summation;

fn operand_element(row: &Instruction) -> &str {
    row.find_matrix_operand("a")
        .and_then(InstructionOperand::element)
        .unwrap_or_else(|| panic!("{} has no a", row.name))
}

fn mma_instructions(architecture: &str) -> Vec<Instruction> {
    let is_mma = |row: &Instruction| row.kind == InstructionKind::Matrix && row.semantics == Semantics::Contract;
    instructions_of(architecture).into_iter().filter(is_mma).collect()
}

#[test]
fn extra_bits_and_widths_are_those_that_were_found() {
    // FTTN (2024), table of features: one extra bit and eight products of f16 at a time on A100, two or more bits and
    // 16 or more products on H100. Fasi et al. (2021): four of tf32 on A100. DeepSeek-V3 (2024): about 14 bits for
    // 8-bit operands with the tensor core's own accumulator; Ada's is the same (MMA-Sim, 2025).
    for (architecture, name, group, extra) in [
        ("sm_80", "f16", 8, 1),
        ("sm_80", "bf16", 8, 1),
        ("sm_80", "tf32", 4, 1),
        ("sm_89", "f16", 8, 1),
        ("sm_89", "e4m3", 16, -10),
        ("sm_89", "e5m2", 16, -10),
        ("sm_90a", "f16", 16, 2),
        ("sm_90a", "tf32", 8, 2),
        ("sm_100a", "bf16", 16, 2),
        ("sm_120", "e4m3", 32, 2),
    ] {
        let own_accumulator =
            |row: &Instruction| row.name.starts_with("wgmma") && matches!(operand_element(row), "e4m3" | "e5m2");
        let rows_of_element: Vec<_> = mma_instructions(architecture)
            .into_iter()
            .filter(|row| operand_element(row) == name && !own_accumulator(row))
            .collect();
        let rows_of_element: Vec<_> =
            rows_of_element.into_iter().filter(|row| !row.name.starts_with("tcgen05")).collect();
        assert!(!rows_of_element.is_empty(), "{architecture} {name}");
        for row in rows_of_element {
            let numerics = row.numerics.unwrap_or_else(|| panic!("{} says nothing", row.name));
            let fraction = (23 + extra) as u32;
            let required = Summation::Aligned { group, fraction, kept: fraction.min(23) };
            assert_eq!(numerics.summation, required, "{architecture} {}", row.name);
            assert_eq!((numerics.evidence, numerics.nan_is_all_ones), (Evidence::Measured, true), "{}", row.name);
        }
    }
}

#[test]
fn integer_mmas_have_no_numerics_and_f64_mmas_are_chains() {
    for architecture in ["sm_80", "sm_86", "sm_89", "sm_90a", "sm_100a", "sm_120"] {
        for row in mma_instructions(architecture) {
            let summation = row.numerics.as_ref().map(|numerics| numerics.summation);
            match operand_element(&row) {
                "s8" | "u8" | "s4" | "u4" | "b1" => assert_eq!(summation, None, "{}", row.name),
                "f64" => assert_eq!(summation, Some(Summation::Chain), "{}", row.name),
                // No measurement of block-scaled MMAs is published.
                _ if row.takes_scales() => assert_eq!(summation, None, "{}", row.name),
                _ => assert!(matches!(summation, Some(Summation::Aligned { .. })), "{}", row.name),
            }
        }
    }
    let unknown = mma_instructions("sm_86").into_iter().filter_map(|row| row.numerics);
    assert!(unknown.into_iter().all(|numerics| numerics.evidence == Evidence::Assumed), "nobody looked at it");
}

/// Checks that MMAs in tensor memory have the numerics of `mma` on the same operands, marked as assumed, because no
/// measurement is published.
#[test]
fn tensor_memory_mmas_are_assumed_to_sum_as_warp_mmas() {
    let all = mma_instructions("sm_100a");
    let of = |start: &str, name: &str| -> Vec<_> {
        let own = all.iter().filter(|row| row.name.starts_with(start) && operand_element(row) == name);
        own.filter_map(|row| row.numerics.clone()).collect()
    };
    for name in ["f16", "bf16", "tf32", "e4m3", "e5m2"] {
        let (by_warp, own) = (of("mma.", name), of("tcgen05", name));
        assert!(!own.is_empty() && own.iter().all(|numerics| numerics.evidence == Evidence::Assumed), "{name}");
        assert!(own.iter().all(|numerics| numerics.summation == by_warp[0].summation), "{name}");
    }
}

#[test]
fn warpgroup_mmas_of_bytes_keep_fourteen_bits() {
    // DeepSeek-V3 (2024), section 3.5.2: about 14 bits on H800.
    let bytes: Vec<_> = mma_instructions("sm_90a")
        .into_iter()
        .filter(|row| row.name.starts_with("wgmma") && matches!(operand_element(row), "e4m3" | "e5m2"))
        .collect();
    assert!(!bytes.is_empty());
    for row in bytes {
        let required = Summation::Aligned { group: 32, fraction: 13, kept: 13 };
        assert_eq!(row.numerics.map(|numerics| numerics.summation), Some(required), "{}", row.name);
    }
}
