//! The text syntax of Triton's attributes for this vendor's layout families. Scales have no attribute in Triton, hence
//! no syntax.

use tilewright_layout::{AttributeSyntax, FamilyAttribute, OmittedValues, ParameterSyntax};

pub(super) fn all() -> Vec<AttributeSyntax> {
    vec![amd_mfma(), amd_wmma()]
}

fn amd_mfma() -> AttributeSyntax {
    let keywords = [
        ("version", "version"),
        ("warps_per_cta", "warpsPerCTA"),
        ("instr_shape", "instrShape"),
        ("transposed", "isTransposed"),
    ];
    AttributeSyntax::new("amd_mfma", "ttg", "amd_mfma")
        .with_keywords(&keywords)
        .with(ParameterSyntax::cluster())
        .with(ParameterSyntax::new("tiles_per_warp", &["tilesPerWarp"]).omitted(OmittedValues::AtOnes))
        .with(ParameterSyntax::new("element_bitwidth", &["elementBitWidth"]).omitted_at(32))
        .with_call(
            "AMDMFMALayout",
            &[
                "version",
                "instr_shape",
                "transposed",
                "warps_per_cta",
                "element_bitwidth",
                "tiles_per_warp",
                "cga_layout",
            ],
        )
}

/// Returns the syntax of `amd_wmma`. The attribute's `rank` is the number of axes of the tensor.
fn amd_wmma() -> AttributeSyntax {
    let bases =
        |name: &str, word: &str| ParameterSyntax::new(name, &[word]).omitted_at(FamilyAttribute::List(Vec::new()));
    AttributeSyntax::new("amd_wmma", "ttg", "amd_wmma")
        .with_keywords(&[("version", "version"), ("transposed", "isTranspose")])
        .with(bases("reg_bases", "ctaLayout.register"))
        .with(bases("warp_bases", "ctaLayout.warp"))
        .with(ParameterSyntax::cluster())
        .with(ParameterSyntax::new("instr_shape", &["instrShape"]).omitted_at([16, 16, 16]))
        .with(ParameterSyntax::new("rank", &["rank"]).omitted(OmittedValues::Always))
        .with_call(
            "AMDWMMALayout",
            &["version", "transposed", "warp_bases", "reg_bases", "instr_shape", "cga_layout", "rank"],
        )
}
