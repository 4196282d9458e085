//! The families of this plugin against the expectations of Intel's Triton backend.

#[path = "../../../framework/tests/known_answers/mod.rs"]
mod known_answers;

use std::collections::BTreeSet;

use known_answers::{full_text, numbers, same_layout};
use serde_json::Value;
use tilewright::layout::{Attribute, Bases, Dim, Families, FamilySpec, LinearLayout, SampleUse};
use tilewright_intel::families::VendorFamilies;
use tilewright_intel::instructions::rows;

const SAMPLE: &str = include_str!("data/dpas_cases.json");

#[test]
fn families_agree() {
    let full = full_text("reference/intel_dpas_cases.json");
    for text in std::iter::once(SAMPLE).chain(full.as_deref()) {
        let file: Value = serde_json::from_str(text).expect("cases are JSON");
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
    let images = |value: &Value| value.as_array().expect("bases").iter().map(numbers).collect::<Bases>();
    let bases: Vec<_> =
        ["register", "lane", "warp", "block"].map(|dim| (Dim::named(dim), images(&case["expected"][dim]))).into();
    let outs: Vec<_> = shape.iter().enumerate().map(|(axis, &size)| (Dim::tensor(axis), size)).collect();
    LinearLayout::from_bases(&bases, &outs).expect("the expectation is a layout")
}

fn spec(case: &Value) -> FamilySpec {
    let index = case["opIdx"].as_i64().expect("an operand");
    if case["subgroup2dblock"].is_object() {
        let block = attributes("subgroup_2d_block", &case["subgroup2dblock"]);
        return FamilySpec::new("dot_operand").with("operand_index", index).of(block);
    }
    let dpas = attributes("dpas", &case["dpas"]);
    match index {
        2 => dpas,
        0 | 1 => FamilySpec::new("dot_operand").with("operand_index", index).of(dpas),
        _ => FamilySpec::new("dpas_scale").with("operand_index", index - 3).of(dpas),
    }
}

fn attributes(name: &str, values: &Value) -> FamilySpec {
    let mut spec = FamilySpec::new(name);
    for (key, value) in values.as_object().expect("named values").iter().filter(|(_, value)| !value.is_null()) {
        let value: Attribute = serde_json::from_value(value.clone()).expect("a number or a list");
        spec = spec.with(&snake_case(key), value);
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
fn samples_are_layouts_and_feed_instructions_that_there_are() {
    let mut feeding = 0;
    for architecture in ["pvc"] {
        let own = VendorFamilies::of(architecture);
        let instructions = rows(architecture);
        for warps in [1, 2, 4, 8] {
            for element_bits in [8, 16, 32, 64] {
                let samples = own.samples(SampleUse { lanes: 16, warps, element_bits });
                let names: BTreeSet<_> = samples.iter().map(|sample| &sample.name).collect();
                assert_eq!(names.len(), samples.len(), "names are unique");
                for sample in &samples {
                    let layout = own.resolve(&sample.spec, &[128, 64], &own).expect("a sample is a layout");
                    assert_eq!(1 << layout.linear().in_bits(Dim::WARP), warps, "{architecture}: {}", sample.name);
                    let Some(operand) = &sample.operand else { continue };
                    let found = instructions.iter().filter(|row| row.name == operand.instruction).count();
                    assert_eq!(found, 1, "{architecture} has no `{}`", operand.instruction);
                    feeding += 1;
                }
            }
        }
    }
    assert!(feeding > 0);
    let none = VendorFamilies::of("unheard-of").samples(SampleUse { lanes: 16, warps: 4, element_bits: 16 });
    assert!(none.is_empty());
}

fn families() -> VendorFamilies {
    VendorFamilies::of("pvc")
}
