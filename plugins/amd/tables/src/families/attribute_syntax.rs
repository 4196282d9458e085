//! The text syntax of Triton's attributes for this vendor's layout families. Scales have no attribute in Triton, hence
//! no syntax.

use tilewright_layout::{AttributeSyntax, FamilyParameterValue, OmittedParameterValues, ParameterSyntax};

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
        .with_parameter(ParameterSyntax::cga_layout())
        .with_parameter(
            ParameterSyntax::new("tiles_per_warp", &["tilesPerWarp"])
                .with_omitted_values(OmittedParameterValues::AtOnes),
        )
        .with_parameter(ParameterSyntax::new("element_bitwidth", &["elementBitWidth"]).with_omitted_value(32))
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
    let bases = |name: &str, word: &str| {
        ParameterSyntax::new(name, &[word]).with_omitted_value(FamilyParameterValue::List(Vec::new()))
    };
    AttributeSyntax::new("amd_wmma", "ttg", "amd_wmma")
        .with_keywords(&[("version", "version"), ("transposed", "isTranspose")])
        .with_parameter(bases("reg_bases", "ctaLayout.register"))
        .with_parameter(bases("warp_bases", "ctaLayout.warp"))
        .with_parameter(ParameterSyntax::cga_layout())
        .with_parameter(ParameterSyntax::new("instr_shape", &["instrShape"]).with_omitted_value([16, 16, 16]))
        .with_parameter(ParameterSyntax::new("rank", &["rank"]).with_omitted_values(OmittedParameterValues::Always))
        .with_call(
            "AMDWMMALayout",
            &["version", "transposed", "warp_bases", "reg_bases", "instr_shape", "cga_layout", "rank"],
        )
}
