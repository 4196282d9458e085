//! How Triton's attribute text spells these families; scales have no attribute there.

use tilewright_layout::{FamilyAttribute, Omitted, ParameterSpelling, Spelling};

pub(super) fn all() -> Vec<Spelling> {
    vec![amd_mfma(), amd_wmma()]
}

fn amd_mfma() -> Spelling {
    let words = [
        ("version", "version"),
        ("warps_per_cta", "warpsPerCTA"),
        ("instr_shape", "instrShape"),
        ("transposed", "isTransposed"),
    ];
    Spelling::new("amd_mfma", "ttg", "amd_mfma")
        .with_words(&words)
        .with(ParameterSpelling::cluster())
        .with(ParameterSpelling::new("tiles_per_warp", &["tilesPerWarp"]).omitted(Omitted::AtOnes))
        .with(ParameterSpelling::new("element_bitwidth", &["elementBitWidth"]).omitted_at(32))
}

/// The number of axes is that of the tensor.
fn amd_wmma() -> Spelling {
    let bases =
        |name: &str, word: &str| ParameterSpelling::new(name, &[word]).omitted_at(FamilyAttribute::List(Vec::new()));
    Spelling::new("amd_wmma", "ttg", "amd_wmma")
        .with_words(&[("version", "version"), ("transposed", "isTranspose")])
        .with(bases("reg_bases", "ctaLayout.register"))
        .with(bases("warp_bases", "ctaLayout.warp"))
        .with(ParameterSpelling::cluster())
        .with(ParameterSpelling::new("instr_shape", &["instrShape"]).omitted_at([16, 16, 16]))
        .with(ParameterSpelling::new("rank", &["rank"]).omitted(Omitted::Always))
}
