//! Parameters of the families of this plugin: what is wrong is said by name, and nothing panics.

#[path = "../../../framework/tests/known_answers/any_parameters.rs"]
mod any_parameters;

use any_parameters::{Kind, Signature};
use tilewright::layout::{Families, FamilySet, families::Neutral, parse_spec};
use tilewright_amd::families::VendorFamilies;

const MFMA: Signature = Signature {
    name: "amd_mfma",
    parameters: &[
        ("version", Kind::OneOf(&[1, 2, 3, 4, 5])),
        ("instr_shape", Kind::ListOf(&[&[32, 32, 8], &[16, 16, 4], &[4, 64, 4], &[64, 4, 4], &[8, 8, 8]])),
        ("transposed", Kind::Flag),
        ("warps_per_cta", Kind::PerAxis),
        ("element_bitwidth", Kind::OneOf(&[32, 32, 64, 16])),
        ("tiles_per_warp", Kind::PerAxis),
        ("cga_layout", Kind::Bases),
    ],
    parents: &[],
};
const WMMA: Signature = Signature {
    name: "amd_wmma",
    parameters: &[
        ("version", Kind::OneOf(&[1, 2, 3, 4])),
        ("instr_shape", Kind::ListOf(&[&[16, 16, 16], &[32, 16, 128], &[16, 16, 4], &[8, 8, 8]])),
        ("transposed", Kind::Flag),
        ("reg_bases", Kind::Bases),
        ("warp_bases", Kind::Bases),
        ("cga_layout", Kind::Bases),
    ],
    parents: &[],
};
const FAMILIES: [Signature; 3] = [
    MFMA,
    WMMA,
    Signature {
        name: "dot_operand",
        parameters: &[("operand_index", Kind::OneOf(&[0, 0, 1, 1, 2])), ("k_width", Kind::Number)],
        parents: &[MFMA, WMMA],
    },
];

#[test]
fn no_parameters_panic() {
    let own = families();
    let set = FamilySet::new(vec![&Neutral, &own]);
    any_parameters::ask(3000, &FAMILIES, &set, |layout| assert!(layout.linear().is_surjective()));
}

#[test]
fn what_is_wrong_is_named() {
    let error = |text: &str, shape: &[u64]| {
        let spec = parse_spec(text).expect("the text is well formed");
        families().resolve(&spec, shape, &families()).expect_err("the parameters are wrong").to_string()
    };
    let mfma = |version: i32, shape: &str| {
        format!(
            "#ttg.amd_mfma<{{version = {version}, warpsPerCTA = [4, 1], instrShape = {shape}, isTransposed = false}}>"
        )
    };
    assert!(error(&mfma(5, "[32, 32, 8]"), &[64, 64]).contains("`version`: 5 is none of 1 (gfx908)"));
    assert!(error(&mfma(3, "[32, 16, 8]"), &[64, 64]).contains("`instr_shape`: [32, 16, 8] must be [M, N, K]"));
    assert!(error(&mfma(3, "[64, 4, 4]"), &[64, 64]).contains("`transposed`: a 64x4 result exists transposed only"));
}

#[test]
fn attribute_text_and_json_name_the_same_layouts() {
    let layout = |text: &str, shape: &[u64]| {
        let spec = parse_spec(text).expect("the text is well formed");
        families().resolve(&spec, shape, &families()).expect("a layout")
    };
    let text = "#ttg.amd_mfma<{version = 3, warpsPerCTA = [4, 1], instrShape = [32, 32, 8], isTransposed = true}>";
    let json = r#"{"kind": "amd_mfma", "version": 3, "warps_per_cta": [4, 1], "instr_shape": [32, 32, 8],
        "transposed": true, "element_bitwidth": 32, "tiles_per_warp": [1, 1]}"#;
    assert_eq!(layout(text, &[128, 64]), layout(json, &[128, 64]));
    let wmma = "#ttg.amd_wmma<{version = 2, isTranspose = true, ctaLayout = {warp = [[0, 1], [1, 0]]}, instrShape = [16, 16, 16]}>";
    let same = r#"{"kind": "amd_wmma", "version": 2, "transposed": true, "warp_bases": [[0, 1], [1, 0]], "reg_bases": [],
        "instr_shape": [16, 16, 16], "rank": 2}"#;
    assert_eq!(layout(wmma, &[64, 64]), layout(same, &[64, 64]));
    let text = format!("#ttg.dot_op<{{opIdx = 1, parent = {text}, kWidth = 4}}>");
    let json = format!(r#"{{"kind": "dot_operand", "operand_index": 1, "k_width": 4, "parent": {json}}}"#);
    assert_eq!(layout(&text, &[64, 64]), layout(&json, &[64, 64]));
}

fn families() -> VendorFamilies {
    VendorFamilies::of("gfx942")
}
