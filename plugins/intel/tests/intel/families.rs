//! The layout families of this plugin compared with the expectations of Intel's Triton backend.

use serde_json::Value;
use tilewright_intel_tables::families::IntelFamilies;
use tilewright_intel_tables::instructions::instructions_of;
use tilewright_testkit::known_answers::numbers;
use tilewright_vendor_testkit::prelude::*;
use tilewright_vendor_testkit::rows::samples_are_layouts;

const SAMPLE: &str = include_str!("../data/dpas_cases.json");

#[test]
fn families_agree() {
    check_families_agree(Answers::Sample);
}

pub fn check_families_agree(answers: Answers) {
    for file in answers.files(SAMPLE, "reference/intel_dpas_cases.json") {
        let cases = file["cases"].as_array().expect("a list of cases");
        assert!(cases.len() >= 18);
        for case in cases {
            let shape = numbers(&case["shape"]);
            let found = families().resolve(&spec(case), &shape, &families()).expect("the case is a layout");
            if let Err(why) = same_layout(found.linear(), &expected(case, &shape)) {
                panic!("{why}\nin {case}");
            }
        }
    }
}

fn expected(case: &Value, shape: &[u64]) -> LinearLayout {
    let images = |value: &Value| value.as_array().expect("bases").iter().map(numbers).collect::<DimBases>();
    let bases: Vec<_> =
        ["register", "lane", "warp", "block"].map(|dim| (Dim::named(dim), images(&case["expected"][dim]))).into();
    let outs: Vec<_> = shape.iter().enumerate().map(|(axis, &size)| (Dim::tensor(axis), size)).collect();
    LinearLayout::from_bases(&bases, &outs).expect("the expectation is a layout")
}

fn spec(case: &Value) -> FamilySpec {
    let index = case["opIdx"].as_i64().expect("an operand");
    if case["subgroup2dblock"].is_object() {
        let block = attributes("subgroup_2d_block", &case["subgroup2dblock"]);
        return FamilySpec::new("dot_operand").with_parameter("operand_index", index).with_parent(block);
    }
    let dpas = attributes("dpas", &case["dpas"]);
    match index {
        2 => dpas,
        0 | 1 => FamilySpec::new("dot_operand").with_parameter("operand_index", index).with_parent(dpas),
        _ => FamilySpec::new("dpas_scale").with_parameter("operand_index", index - 3).with_parent(dpas),
    }
}

fn attributes(name: &str, values: &Value) -> FamilySpec {
    let mut spec = FamilySpec::new(name);
    for (key, value) in values.as_object().expect("named values").iter().filter(|(_, value)| !value.is_null()) {
        let value: FamilyParameterValue = serde_json::from_value(value.clone()).expect("a number or a list");
        spec = spec.with_parameter(&snake_case(key), value);
    }
    spec
}

fn snake_case(word: &str) -> String {
    match word {
        "warpsPerCTA" => "warps_per_cta".to_owned(),
        "fp4KPack" => "fp4_k_pack".to_owned(),
        _ => word
            .chars()
            .flat_map(|c| if c.is_uppercase() { vec!['_', c.to_ascii_lowercase()] } else { vec![c] })
            .collect(),
    }
}

#[test]
fn samples_are_layouts_and_match_instruction_operands() {
    let mut operand_count = 0;
    for (architecture, lanes) in [("pvc", 16), ("pvc", 32), ("xe2", 16), ("xe2", 32), ("dg2", 8)] {
        let vendor_families = IntelFamilies::for_architecture(architecture);
        let instructions = instructions_of(architecture);
        for warps in [1, 2, 4, 8] {
            for element_bits in [8, 16, 32, 64] {
                let requested = SampleLayoutRequest { lanes, warps, element_bits };
                let has_none = element_bits == 64 || (architecture, element_bits) == ("dg2", 32);
                assert_eq!(vendor_families.samples(requested).is_empty(), has_none);
                let fed = samples_are_layouts(&vendor_families, &instructions, requested, &[128, 64]).len();
                assert!(lanes < 32 || fed == 0, "instructions are for sub-groups of 8 or 16");
                operand_count += fed;
            }
        }
    }
    assert!(operand_count > 0);
    let none = IntelFamilies::for_architecture("unheard-of").samples(SampleLayoutRequest {
        lanes: 16,
        warps: 4,
        element_bits: 16,
    });
    assert!(none.is_empty());
}

/// Checks that 2-D block loads repeat along the rows first, for operand A and for operand B.
#[test]
fn block_reads_are_repeated_down_the_rows_first() {
    for (index, warps) in [(0i64, vec![vec![0, 0], vec![16, 0]]), (1, vec![vec![0, 16], vec![0, 0]])] {
        let block = FamilySpec::new("subgroup_2d_block")
            .with_parameter("instr_shape", [16, 16])
            .with_parameter("num_blocks", 1)
            .with_parameter("order", [1, 0])
            .with_parameter("threads_per_warp", 16)
            .with_parameter("warps_per_cta", [2, 2]);
        let operand = FamilySpec::new("dot_operand").with_parameter("operand_index", index).with_parent(block);
        let found = families().resolve(&operand, &[64, 64], &families()).expect("a layout");
        let mut registers: DimBases = [1, 2, 4, 8].map(|row| vec![row, 0]).into();
        registers
            .extend(if index == 0 { [[32, 0], [0, 16], [0, 32]] } else { [[16, 0], [32, 0], [0, 32]] }.map(Vec::from));
        assert_eq!(found.linear().bases_of(Dim::REGISTER), registers, "operand {index}");
        assert_eq!(found.linear().bases_of(Dim::WARP), warps, "operand {index}");
    }
}

/// Checks clusters: blocks that partition the result along an axis partition the operands and scales along it too, and
/// hold replicas along the other axis.
#[test]
fn clusters_share_out_operands_and_scales() {
    let dpas = FamilySpec::new("dpas")
        .with_parameter("repeat_count", 8)
        .with_parameter("systolic_depth", 8)
        .with_parameter("execution_size", 16)
        .with_parameter("ops_per_channel", 4)
        .with_parameter("threads_per_warp", 16)
        .with_parameter("warps_per_cta", [1, 1])
        .with_parameter("rep_cluster", [1, 1])
        .with_parameter(
            "cga_layout",
            FamilyParameterValue::List(vec![
                FamilyParameterValue::from(&[0i64, 1][..]),
                FamilyParameterValue::from(&[1i64, 0][..]),
            ]),
        );
    let of =
        |name: &str, index: i64| FamilySpec::new(name).with_parameter("operand_index", index).with_parent(dpas.clone());
    for (spec, shape, blocks) in [
        (dpas.clone(), [32, 64], [[0, 32], [16, 0]]),
        (of("dot_operand", 0), [32, 64], [[0, 0], [16, 0]]),
        (of("dot_operand", 1), [64, 64], [[0, 32], [0, 0]]),
        (of("dpas_scale", 0), [32, 2], [[0, 0], [16, 0]]),
        (of("dpas_scale", 1), [64, 2], [[32, 0], [0, 0]]),
    ] {
        let found = families().resolve(&spec, &shape, &families()).expect("a layout");
        assert_eq!(found.linear().bases_of(Dim::BLOCK), blocks.map(Vec::from), "{spec:?}");
        assert!(found.linear().is_surjective());
    }
}

fn families() -> IntelFamilies {
    IntelFamilies::for_architecture("pvc")
}

#[test]
fn groups_of_the_instruction_table_have_one_kind() {
    tilewright_vendor_testkit::rows::groups_have_one_kind::<tilewright_intel_tables::IntelTables>();
}
