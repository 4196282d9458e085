//! Parameters of the families of this plugin: faults are reported by name, and nothing panics.

use tilewright_intel_tables::families::IntelFamilies;
use tilewright_testkit::any_parameters::{Kind, Signature};
use tilewright_vendor_testkit::parameters;

const DPAS: Signature = Signature::new(
    "dpas",
    &[
        ("repeat_count", Kind::OneOf(&[8, 8, 4, 2, 1])),
        ("systolic_depth", Kind::OneOf(&[8, 8, 4])),
        ("execution_size", Kind::OneOf(&[16, 16, 8])),
        ("ops_per_channel", Kind::OneOf(&[1, 2, 4, 8])),
        ("threads_per_warp", Kind::OneOf(&[16, 16, 32, 8, 4, 64, 128])),
        ("warps_per_cta", Kind::PerAxis),
        ("rep_cluster", Kind::PerAxis),
        ("fp4_k_pack", Kind::OneOf(&[1, 1, 2])),
        ("cga_layout", Kind::Bases),
    ],
);
const BLOCK: Signature = Signature::new(
    "subgroup_2d_block",
    &[
        ("instr_shape", Kind::ListOf(&[&[8, 16], &[32, 32], &[32, 8], &[1, 1]])),
        ("num_blocks", Kind::OneOf(&[1, 2, 4])),
        ("warps_per_cta", Kind::PerAxis),
        ("threads_per_warp", Kind::OneOf(&[16, 16, 32, 8])),
        ("order", Kind::Order),
        ("cga_layout", Kind::Bases),
    ],
);
const FAMILIES: [Signature; 3] = [
    DPAS,
    Signature::new("dot_operand", &[("operand_index", Kind::OneOf(&[0, 0, 1, 1, 2])), ("k_width", Kind::Number)])
        .with_parents(&[DPAS, BLOCK]),
    Signature::new("dpas_scale", &[("operand_index", Kind::OneOf(&[0, 0, 1, 1, 2]))]).with_parents(&[DPAS]),
];

#[test]
fn no_parameters_panic() {
    parameters::check_random_family_parameters(3000, &FAMILIES, &families());
}

#[test]
fn what_is_wrong_is_named() {
    let error = |text: &str| parameters::refusal(&families(), text, &[64, 64]);
    let dpas = |repeat: i32, lanes: i32| {
        format!(
            "#ttig.dpas<{{repeatCount = {repeat}, systolicDepth = 8, executionSize = 16, opsPerChan = 2, \
             threadsPerWarp = {lanes}, warpsPerCTA = [1, 4], repCluster = [1, 1], A = [8, 16], B = [16, 16], C = [8, 16]}}>"
        )
    };
    assert!(error(&dpas(16, 16)).contains("`repeat_count`: 16 is more than the 8"));
    assert!(error(&dpas(8, 8)).contains("`threads_per_warp`: 8 lanes do not fit an instruction 16 columns wide"));
    let scale = |parent: &str, index: i32| format!("#ttig.dpas_scale<{{opIdx = {index}, parent = {parent}}}>");
    let eight = dpas(8, 16).replace("opsPerChan = 2", "opsPerChan = 1");
    assert!(error(&scale(&eight, 0)).contains("`ops_per_channel`: block-scaled instructions have 2, 4 or 8"));
    assert!(error(&scale(&dpas(4, 16), 0)).contains("`repeat_count`: block-scaled instructions have 8 rows"));
    let narrow = dpas(8, 16).replace("executionSize = 16", "executionSize = 8");
    assert!(error(&scale(&narrow, 1)).contains("`execution_size`: block-scaled instructions have 8 rows and 16"));
    assert!(error(&scale(&dpas(8, 16), 2)).contains("`operand_index`: must be operand 0 or 1 of a `dpas`"));
    assert!(error("#ttig.subgroup_2d_block<{}>").contains("only as the parent of a `dot_operand`"));
    let operand = format!("#ttg.dot_op<{{opIdx = 2, parent = {}, kWidth = 2}}>", dpas(8, 16));
    assert!(error(&operand).contains("`operand_index`: 2 is neither 0 nor 1"));
}

#[test]
fn attribute_text_and_json_name_the_same_layouts() {
    let same = |text: &str, json: &str| parameters::check_same_layout(&families(), text, json, &[64, 64]);
    let text = "#ttig.dpas<{repeatCount = 8, systolicDepth = 8, executionSize = 16, opsPerChan = 2, \
                threadsPerWarp = 16, warpsPerCTA = [1, 4], repCluster = [2, 1]}>";
    let json = r#"{"kind": "dpas", "repeat_count": 8, "systolic_depth": 8, "execution_size": 16,
        "ops_per_channel": 2, "threads_per_warp": 16, "warps_per_cta": [1, 4], "rep_cluster": [2, 1]}"#;
    same(text, json);
    let text = format!("#ttg.dot_op<{{opIdx = 0, parent = {text}, kWidth = 1}}>");
    let json = format!(r#"{{"kind": "dot_operand", "operand_index": 0, "k_width": 1, "parent": {json}}}"#);
    same(&text, &json);
    let block = "#ttig.subgroup_2d_block<{warpsPerCTA = [2, 2], instrShape = [16, 16], numBlocks = 2, order = [1, 0], \
                 kWidth = 2, threadsPerWarp = 16}>";
    let text = format!("#ttg.dot_op<{{opIdx = 1, parent = {block}, kWidth = 2}}>");
    let json = r#"{"kind": "dot_operand", "operand_index": 1, "k_width": 2, "parent": {"kind": "subgroup_2d_block",
        "warps_per_cta": [2, 2], "instr_shape": [16, 16], "num_blocks": 2, "order": [1, 0], "k_width": 2,
        "threads_per_warp": 16}}"#;
    same(&text, json);
}

fn families() -> IntelFamilies {
    IntelFamilies::for_architecture("pvc")
}
