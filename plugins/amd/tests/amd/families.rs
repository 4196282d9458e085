//! The families of this plugin compared with known answers, and with arbitrary parameters.

use serde_json::Value;
use tilewright_amd_tables::families::AmdFamilies;
use tilewright_amd_tables::instructions::instructions_of;
use tilewright_testkit::known_answers::{all_agree, check_layout, list_family_names};
use tilewright_vendor_testkit::prelude::*;
use tilewright_vendor_testkit::rows::samples_are_layouts;

const ARCHITECTURES: [&str; 8] = ["gfx908", "gfx90a", "gfx942", "gfx950", "gfx1100", "gfx1200", "gfx1201", "gfx1250"];
const SAMPLE: &str = include_str!("../data/layouts.jsonl");

#[test]
fn families_agree() {
    check_families_agree(Answers::Sample);
}

pub fn check_families_agree(answers: Answers) {
    let vendor_families = families();
    let set = FamilyProviders::new(vec![&NeutralFamilies, &vendor_families]);
    let served = ["slice", "dot_operand", "amd_mfma", "amd_wmma", "mfma_scale", "wmma_scale"];
    let is_vendor_row = |row: &Value| {
        let names = list_family_names(&row["params"]);
        names.last().is_some_and(|name| name.starts_with("amd_") || name.ends_with("_scale"))
            && names.iter().all(|name| served.contains(&name.as_str()))
    };
    all_agree(&answers.rows(SAMPLE, "oracle/layouts.jsonl"), is_vendor_row, |row| check_layout(row, &set));
}

#[test]
fn samples_are_layouts_and_match_instruction_operands() {
    for architecture in ARCHITECTURES {
        let vendor_families = AmdFamilies::for_architecture(architecture);
        let instructions = instructions_of(architecture);
        let mut used_instructions = BTreeSet::new();
        for lanes in [32, 64] {
            for warps in [1, 2, 4, 8] {
                for element_bits in [4, 8, 16, 32, 64] {
                    let requested = SampleLayoutRequest { lanes, warps, element_bits };
                    let fed = samples_are_layouts(&vendor_families, &instructions, requested, &[128, 64]);
                    used_instructions.extend(fed.into_iter().map(|name| (name, element_bits)));
                }
            }
        }
        assert!(used_instructions.len() >= 3, "{architecture}: {used_instructions:?}");
    }
    let none = AmdFamilies::for_architecture("unheard-of").samples(SampleLayoutRequest {
        lanes: 64,
        warps: 4,
        element_bits: 16,
    });
    assert!(none.is_empty());
}

#[test]
fn every_family_is_in_some_sample() {
    let mut shown = BTreeSet::new();
    for architecture in ARCHITECTURES {
        let vendor_families = AmdFamilies::for_architecture(architecture);
        for (lanes, element_bits) in [(32, 8), (64, 8), (32, 16), (64, 16)] {
            let samples = vendor_families.samples(SampleLayoutRequest { lanes, warps: 4, element_bits });
            shown.extend(samples.into_iter().map(|sample| sample.spec.name));
        }
    }
    let mut names: BTreeSet<_> = families().names().into_iter().collect();
    // `dot_op` is the short name of `dot_operand`.
    names.remove("dot_op");
    assert_eq!(shown, names);
}

fn families() -> AmdFamilies {
    AmdFamilies::for_architecture("gfx942")
}

#[test]
fn groups_of_the_instruction_table_have_one_kind() {
    tilewright_vendor_testkit::rows::groups_have_one_kind::<tilewright_amd_tables::AmdTables>();
}
