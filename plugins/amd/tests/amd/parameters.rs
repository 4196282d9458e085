//! Parameters of this plugin's families: errors name the parameter, and nothing panics.

use tilewright_amd_tables::families::AmdFamilies;
use tilewright_testkit::any_parameters::{Kind, Signature};
use tilewright_vendor_testkit::parameters;

const MFMA: Signature = Signature::new(
    "amd_mfma",
    &[
        ("version", Kind::OneOf(&[1, 2, 3, 4, 5])),
        ("instr_shape", Kind::ListOf(&[&[32, 32, 8], &[16, 16, 4], &[4, 64, 4], &[64, 4, 4], &[8, 8, 8]])),
        ("transposed", Kind::Flag),
        ("warps_per_cta", Kind::PerAxis),
        ("element_bitwidth", Kind::OneOf(&[32, 32, 64, 16])),
        ("tiles_per_warp", Kind::PerAxis),
        ("cga_layout", Kind::Bases),
    ],
);
const WMMA: Signature = Signature::new(
    "amd_wmma",
    &[
        ("version", Kind::OneOf(&[1, 2, 3, 4])),
        ("instr_shape", Kind::ListOf(&[&[16, 16, 16], &[32, 16, 128], &[16, 16, 4], &[8, 8, 8]])),
        ("transposed", Kind::Flag),
        ("reg_bases", Kind::Bases),
        ("warp_bases", Kind::Bases),
        ("cga_layout", Kind::Bases),
    ],
);
const FAMILIES: [Signature; 6] = [
    MFMA,
    WMMA,
    Signature::new("dot_operand", &[("operand_index", Kind::OneOf(&[0, 0, 1, 1, 2])), ("k_width", Kind::Number)])
        .with_parents(&[MFMA, WMMA]),
    Signature::new(
        "mfma_scale",
        &[
            ("operand_index", Kind::OneOf(&[0, 0, 1, 1, 2])),
            ("mdim", Kind::OneOf(&[16, 32, 32, 64])),
            ("tiles_per_warp", Kind::PerAxis),
            ("warps_per_cta", Kind::PerAxis),
        ],
    ),
    Signature::new(
        "wmma_scale",
        &[
            ("operand_index", Kind::OneOf(&[0, 0, 1, 1, 2])),
            ("mdim", Kind::OneOf(&[16, 32, 32, 64])),
            ("ndim", Kind::OneOf(&[16, 16, 16, 32])),
            ("transposed", Kind::Flag),
            ("scale_factor", Kind::OneOf(&[16, 32, 32, 64])),
            ("reg_bases", Kind::Bases),
            ("warp_bases", Kind::Bases),
        ],
    ),
    Signature::new(
        "amd_rotating_shared",
        &[
            ("vec", Kind::Number),
            ("per_phase", Kind::Number),
            ("max_phase", Kind::Number),
            ("order", Kind::Order),
            ("cga_layout", Kind::Bases),
        ],
    ),
];

#[test]
fn no_parameters_panic() {
    parameters::check_random_family_parameters(3000, &FAMILIES, &families());
}

#[test]
fn what_is_wrong_is_named() {
    let error = |text: &str, shape: &[u64]| parameters::refusal(&families(), text, shape);
    let mfma = |version: i32, shape: &str| {
        format!(
            "#ttg.amd_mfma<{{version = {version}, warpsPerCTA = [4, 1], instrShape = {shape}, isTransposed = false}}>"
        )
    };
    assert!(error(&mfma(5, "[32, 32, 8]"), &[64, 64]).contains("`version`: 5 is not one of 1 (gfx908)"));
    assert!(error(&mfma(3, "[32, 16, 8]"), &[64, 64]).contains("`instr_shape`: [32, 16, 8] must be [M, N, K]"));
    assert!(error(&mfma(3, "[64, 4, 4]"), &[64, 64]).contains("`transposed`: a 64x4 result must be transposed"));
}

/// Returns the error message for a layout text that must be rejected.
fn refusal(text: &str, shape: &[u64]) -> String {
    parameters::refusal(&families(), text, shape)
}

#[test]
fn scales_name_what_is_wrong() {
    let mfma = |index: i32, mdim: i32, rest: &str| {
        format!("#tw.mfma_scale<{{opIdx = {index}, mdim = {mdim}, tilesPerWarp = [1, 1], warpsPerCTA = [2, 2]{rest}}}>")
    };
    let wmma = |rest: &str| format!("#tw.wmma_scale<{{opIdx = 0, mdim = 16{rest}}}>");
    let texts = [
        (mfma(2, 16, ""), "operand_index", "2 is neither 0 nor 1"),
        (mfma(0, 64, ""), "mdim", "64 is neither 16 nor 32"),
        (mfma(0, 32, ", shape = [32, 8]"), "shape", "is not that of the tensor"),
        (mfma(0, 32, ", mood = 1"), "mood", "is not a parameter of this family"),
        (mfma(0, 32, "").replace("[2, 2]", "[3, 1]"), "warps_per_cta", "power of two"),
        (mfma(0, 32, "").replace("tilesPerWarp = [1, 1], ", ""), "tiles_per_warp", "missing"),
        (wmma(", ndim = 32"), "ndim", "32 is not 16"),
        (wmma(", scaleFactor = 64"), "scale_factor", "64 is neither 16 nor 32"),
        (wmma(", warpBases = [[1]]"), "warp_bases", "each basis must have two coordinates"),
    ];
    parameters::check_errors_name_parameter(&families(), &[64, 8], &texts);
    assert!(refusal(&mfma(0, 16, ""), &[2, 64, 8]).contains("scales have two axes"));
}

#[test]
fn rotating_memory_names_what_is_wrong() {
    let text = "#ttg.amd_rotating_shared<{vec = 4, perPhase = 2, maxPhase = 8, order = [1, 0]}>";
    let texts = [
        ("vec = 4", "vec = 3", "vec", "3"),
        ("perPhase = 2", "perPhase = 0", "per_phase", "0"),
        ("maxPhase = 8, ", "", "max_phase", "missing"),
        ("[1, 0]", "[1, 1]", "order", "[1, 1]"),
        ("[1, 0]", "[0]", "order", "[0]"),
        ("[1, 0]", "[1, 0], CGALayout = [[0, 3]]", "cga_layout", ""),
        ("[1, 0]", "[1, 0], mood = 1", "mood", "is not a parameter of this family"),
    ];
    let texts = texts.map(|(from, to, parameter, expected)| (text.replace(from, to), parameter, expected));
    parameters::check_errors_name_parameter(&families(), &[64, 32], &texts);
    let error = refusal(text, &[64, 48]);
    assert!(error.contains("48") && error.contains("power of two"), "{error}");
}

#[test]
fn attribute_text_and_json_name_the_same_layouts() {
    let same = |text: &str, json: &str, shape: &[u64]| parameters::check_same_layout(&families(), text, json, shape);
    let text = "#ttg.amd_mfma<{version = 3, warpsPerCTA = [4, 1], instrShape = [32, 32, 8], isTransposed = true}>";
    let json = r#"{"kind": "amd_mfma", "version": 3, "warps_per_cta": [4, 1], "instr_shape": [32, 32, 8],
        "transposed": true, "element_bitwidth": 32, "tiles_per_warp": [1, 1]}"#;
    same(text, json, &[128, 64]);
    let wmma = "#ttg.amd_wmma<{version = 2, isTranspose = true, ctaLayout = {warp = [[0, 1], [1, 0]]}, instrShape = [16, 16, 16]}>";
    let wmma_json = r#"{"kind": "amd_wmma", "version": 2, "transposed": true, "warp_bases": [[0, 1], [1, 0]], "reg_bases": [],
        "instr_shape": [16, 16, 16], "rank": 2}"#;
    same(wmma, wmma_json, &[64, 64]);
    let text = format!("#ttg.dot_op<{{opIdx = 1, parent = {text}, kWidth = 4}}>");
    let json = format!(r#"{{"kind": "dot_operand", "operand_index": 1, "k_width": 4, "parent": {json}}}"#);
    same(&text, &json, &[64, 64]);
    let text = "#tw.mfma_scale<{opIdx = 1, mdim = 16, tilesPerWarp = [1, 2], warpsPerCTA = [2, 2]}>";
    let json = r#"{"kind": "mfma_scale", "operand_index": 1, "shape": [128, 8], "mdim": 16, "tiles_per_warp": [1, 2],
        "warps_per_cta": [2, 2]}"#;
    same(text, json, &[128, 8]);
    let text = "#tw.wmma_scale<{opIdx = 0, mdim = 32, ndim = 16, isTransposed = true, scaleFactor = 16, \
                regBases = [[1, 0]], warpBases = [[0, 1], [2, 0]]}>";
    let json = r#"{"kind": "wmma_scale", "operand_index": 0, "shape": [128, 8], "mdim": 32, "ndim": 16,
        "transposed": true, "scale_factor": 16, "reg_bases": [[1, 0]], "warp_bases": [[0, 1], [2, 0]]}"#;
    same(text, json, &[128, 8]);
    let text = "#ttg.amd_rotating_shared<{vec = 4, perPhase = 2, maxPhase = 8, order = [0, 1], CGALayout = [[1, 0]]}>";
    let json = r#"{"kind": "amd_rotating_shared", "vec": 4, "per_phase": 2, "max_phase": 8, "order": [0, 1],
        "cga_layout": [[1, 0]]}"#;
    same(text, json, &[128, 64]);
}

fn families() -> AmdFamilies {
    AmdFamilies::for_architecture("gfx942")
}
