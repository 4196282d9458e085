//! Parameters of the families of this plugin: what is wrong is said by name, and nothing panics.

#[path = "../../../framework/tests/known_answers/any_parameters.rs"]
mod any_parameters;

use any_parameters::{Kind, Signature};
use tilewright::layout::{Families, FamilySet, families::Neutral, parse_spec};
use tilewright_nvidia::families::VendorFamilies;

const MMA: Signature = Signature {
    name: "nvidia_mma",
    parameters: &[
        ("version_major", Kind::OneOf(&[2, 2, 3, 5])),
        ("version_minor", Kind::Number),
        ("warps_per_cta", Kind::PerAxis),
        ("instr_shape", Kind::ListOf(&[&[16, 8], &[8, 8], &[1, 16, 8], &[16, 64, 16], &[16, 24, 16]])),
        ("cga_layout", Kind::Bases),
    ],
    parents: &[],
};
const FAMILIES: [Signature; 3] = [
    MMA,
    Signature {
        name: "nvmma_shared",
        parameters: &[
            ("swizzling_byte_width", Kind::OneOf(&[0, 32, 64, 128, 256])),
            ("element_bit_width", Kind::OneOf(&[8, 16, 32, 64, 4])),
            ("transposed", Kind::Flag),
            ("fp4_padded", Kind::Flag),
            ("cga_layout", Kind::Bases),
        ],
        parents: &[],
    },
    Signature {
        name: "dot_operand",
        parameters: &[("operand_index", Kind::OneOf(&[0, 0, 1, 1, 2])), ("k_width", Kind::Number)],
        parents: &[MMA],
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
    let mma = |version: i32, shape: &str| {
        format!(
            "#ttg.nvidia_mma<{{versionMajor = {version}, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = {shape}}}>"
        )
    };
    assert!(error(&mma(1, "[16, 8]"), &[64, 64]).contains("`version`: 1 is none of 2 (mma.sync) and 3 (wgmma)"));
    assert!(
        error(&mma(3, "[16, 24, 16]"), &[64, 64]).contains("`instr_shape`: M and N of [16, 24] must be powers of two")
    );
    assert!(error(&mma(2, "[16, 8]"), &[64]).contains("a matrix has at least two axes"));
    let operand = format!("#ttg.dot_op<{{opIdx = 1, parent = {}, kWidth = 2}}>", mma(3, "[16, 64, 16]"));
    assert!(error(&operand, &[64, 64]).contains("`operand_index`: wgmma reads operand 1 from shared memory only"));
}

#[test]
fn attribute_text_and_json_name_the_same_layouts() {
    let layout = |text: &str, shape: &[u64]| {
        let spec = parse_spec(text).expect("the text is well formed");
        families().resolve(&spec, shape, &families()).expect("a layout")
    };
    let text = "#ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 8]}>";
    let json = r#"{"kind": "nvidia_mma", "version": [2, 0], "warps_per_cta": [4, 1], "instr_shape": [16, 8]}"#;
    assert_eq!(layout(text, &[64, 32]), layout(json, &[64, 32]));
    let text = format!("#ttg.dot_op<{{opIdx = 0, parent = {text}, kWidth = 2}}>");
    let json = format!(r#"{{"kind": "dot_operand", "operand_index": 0, "k_width": 2, "parent": {json}}}"#);
    assert_eq!(layout(&text, &[64, 32]), layout(&json, &[64, 32]));
}

fn families() -> VendorFamilies {
    VendorFamilies::of("sm_90a")
}
