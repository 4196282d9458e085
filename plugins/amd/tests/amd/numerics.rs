//! Numerics of `mfma` and `wmma` compared with publications.

use tilewright_amd_tables::instructions::instructions_of;
use tilewright_target::{MmaNumerics, Summation};
use tilewright_vendor_testkit::prelude::*;

fn row(architecture: &str, name: &str) -> Instruction {
    let found = instructions_of(architecture).into_iter().find(|row| row.name == name);
    found.unwrap_or_else(|| panic!("{architecture} has no {name}"))
}

#[test]
fn each_generation_of_cdna_has_its_order_of_additions() {
    let floored = |group, interleaved| Summation::Floored { group, fraction: 24, fraction_of_sum: 31, interleaved };
    // MMA-Sim (2025); FTTN (2024) found the same for gfx90a: groups of four, rounding to nearest, subnormals flushed.
    for (architecture, name, summation) in [
        ("gfx908", "v_mfma_f32_32x32x8f16", Summation::Exact { group: 4 }),
        ("gfx908", "v_mfma_f32_16x16x8bf16", Summation::Exact { group: 2 }),
        ("gfx908", "v_mfma_f32_16x16x4f32", Summation::Chain),
        ("gfx90a", "v_mfma_f32_32x32x8f16", Summation::Tree { group: 4 }),
        ("gfx90a", "v_mfma_f32_16x16x8bf16", Summation::Tree { group: 2 }),
        ("gfx90a", "v_mfma_f32_16x16x16bf16_1k", Summation::Tree { group: 4 }),
        ("gfx90a", "v_mfma_f64_16x16x4f64", Summation::Chain),
        ("gfx942", "v_mfma_f32_32x32x8_f16", floored(8, false)),
        ("gfx942", "v_mfma_f32_4x4x4_16b_bf16", floored(8, false)),
        ("gfx942", "v_mfma_f32_16x16x8_xf32", floored(4, false)),
        ("gfx942", "v_mfma_f32_32x32x16_fp8_bf8", floored(16, true)),
    ] {
        let numerics = row(architecture, name).numerics.unwrap_or_else(|| panic!("{name} says nothing"));
        assert_eq!((numerics.summation, numerics.evidence), (summation, Evidence::Measured), "{architecture} {name}");
    }
    let flushing = row("gfx90a", "v_mfma_f32_32x32x8f16").numerics.map(|numerics| numerics.source);
    assert!(flushing.is_some_and(|source| source.contains("subnormal")), "what is documented is named");
}

#[test]
fn unpublished_numerics_are_marked_as_assumed() {
    for (architecture, name) in [
        ("gfx950", "v_mfma_f32_32x32x16_f16"),
        ("gfx950", "v_mfma_f32_32x32x16_fp8_fp8"),
        ("gfx1100", "v_wmma_f32_16x16x16_f16"),
        ("gfx1201", "v_wmma_f32_16x16x16_fp8_bf8"),
    ] {
        assert_eq!(row(architecture, name).numerics, Some(MmaNumerics::default()), "{architecture} {name}");
    }
    assert_eq!(MmaNumerics::default().evidence, Evidence::Assumed);
    for (architecture, name) in [("gfx90a", "v_mfma_i32_32x32x8i8"), ("gfx1100", "v_wmma_i32_16x16x16_iu8")] {
        assert_eq!(row(architecture, name).numerics, None, "sums of integers wrap");
    }
}
