//! How sums of `mma` come about, beside what was published.

use crate::prelude::*;
use tilewright_target::Summation;

fn factor(row: &Instruction) -> &str {
    let found = row.operands.iter().find_map(|operand| match operand {
        Operand::Register { role, element, .. } if role == "a" => Some(element.as_str()),
        Operand::Memory(memory) if memory.role == "a" => Some(memory.element.as_str()),
        Operand::Tensor(tile) if tile.role == "a" => Some(tile.element.as_str()),
        _ => None,
    });
    found.unwrap_or_else(|| panic!("{} has no a", row.name))
}

fn products(architecture: &str) -> Vec<Instruction> {
    let is_product = |row: &Instruction| row.kind == InstructionKind::Matrix && row.semantics == Semantics::Contract;
    rows(architecture).into_iter().filter(is_product).collect()
}

#[test]
fn extra_bits_and_widths_are_those_that_were_found() {
    // FTTN (2024), table of features: one extra bit and eight products of f16 at a time on A100, two or more bits and 16
    // products or more on H100. Fasi et al. (2021): four of tf32 on A100. DeepSeek-V3 (2024): some 14 bits of 8-bit products where
    // the unit has its own sums for them; Ada's is the same (MMA-Sim, 2025).
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
            |row: &Instruction| row.name.starts_with("wgmma") && matches!(factor(row), "e4m3" | "e5m2");
        let of_factor: Vec<_> =
            products(architecture).into_iter().filter(|row| factor(row) == name && !own_accumulator(row)).collect();
        let of_factor: Vec<_> = of_factor.into_iter().filter(|row| !row.name.starts_with("tcgen05")).collect();
        assert!(!of_factor.is_empty(), "{architecture} {name}");
        for row in of_factor {
            let numerics = row.numerics.unwrap_or_else(|| panic!("{} says nothing", row.name));
            let fraction = (23 + extra) as u32;
            let required = Summation::Aligned { group, fraction, kept: fraction.min(23) };
            assert_eq!(numerics.summation, required, "{architecture} {}", row.name);
            assert_eq!((numerics.evidence, numerics.nan_is_all_ones), (Evidence::Measured, true), "{}", row.name);
        }
    }
}

#[test]
fn sums_of_integers_have_none_and_those_of_binary64_are_chains() {
    for architecture in ["sm_80", "sm_86", "sm_89", "sm_90a", "sm_100a", "sm_120"] {
        for row in products(architecture) {
            let summation = row.numerics.as_ref().map(|numerics| numerics.summation);
            match factor(&row) {
                "s8" | "u8" | "s4" | "u4" | "b1" => assert_eq!(summation, None, "{}", row.name),
                "f64" => assert_eq!(summation, Some(Summation::Chain), "{}", row.name),
                // Of products with scales nothing is known.
                _ if row.takes_scales() => assert_eq!(summation, None, "{}", row.name),
                _ => assert!(matches!(summation, Some(Summation::Aligned { .. })), "{}", row.name),
            }
        }
    }
    let unknown = products("sm_86").into_iter().filter_map(|row| row.numerics);
    assert!(unknown.into_iter().all(|numerics| numerics.evidence == Evidence::Assumed), "nobody looked at it");
}

/// Nobody has published any: the figures of `mma` on the same product are taken, and marked so.
#[test]
fn products_in_tensor_memory_are_assumed_to_sum_as_those_of_a_warp() {
    let all = products("sm_100a");
    let of = |start: &str, name: &str| -> Vec<_> {
        let own = all.iter().filter(|row| row.name.starts_with(start) && factor(row) == name);
        own.filter_map(|row| row.numerics.clone()).collect()
    };
    for name in ["f16", "bf16", "tf32", "e4m3", "e5m2"] {
        let (by_warp, own) = (of("mma.", name), of("tcgen05", name));
        assert!(!own.is_empty() && own.iter().all(|numerics| numerics.evidence == Evidence::Assumed), "{name}");
        assert!(own.iter().all(|numerics| numerics.summation == by_warp[0].summation), "{name}");
    }
}

#[test]
fn products_of_bytes_by_four_warps_keep_fourteen_bits() {
    // DeepSeek-V3 (2024), section 3.5.2: about 14 bits on H800.
    let bytes: Vec<_> = products("sm_90a")
        .into_iter()
        .filter(|row| row.name.starts_with("wgmma") && matches!(factor(row), "e4m3" | "e5m2"))
        .collect();
    assert!(!bytes.is_empty());
    for row in bytes {
        let required = Summation::Aligned { group: 32, fraction: 13, kept: 13 };
        assert_eq!(row.numerics.map(|numerics| numerics.summation), Some(required), "{}", row.name);
    }
}
