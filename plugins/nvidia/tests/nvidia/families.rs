//! The families of this plugin against known answers, and against any parameters at all.

use crate::prelude::*;
use serde_json::Value;
use tilewright_testkit::known_answers::{all_agree, chain, check_layout};
use tilewright_vendor_testkit::rows::samples_are_layouts;

const SAMPLE: &str = include_str!("../data/layouts.jsonl");

#[test]
fn families_agree() {
    check_families_agree(Answers::Sample);
}

pub fn check_families_agree(answers: Answers) {
    let own = families();
    let set = FamilySet::new(vec![&Neutral, &own]);
    let served =
        ["slice", "dot_operand", "nvidia_mma", "nvmma_shared", "tensor_memory", "tensor_memory_scales", "tmem_reg"];
    let own = |row: &Value| {
        let names = chain(&row["params"]);
        names.last().is_some_and(|name| name.starts_with("nv") || name.starts_with("tensor_memory"))
            && names.iter().all(|name| served.contains(&name.as_str()))
    };
    all_agree(&answers.rows(SAMPLE, "oracle/layouts.jsonl"), own, |row| check_layout(row, &set));
}

#[test]
fn samples_are_layouts_and_feed_instructions_that_there_are() {
    let mut feeding = 0;
    for architecture in ["sm_80", "sm_89", "sm_90a", "sm_100a", "sm_103", "sm_120"] {
        let own = NvidiaFamilies::of(architecture);
        let instructions = rows(architecture);
        for warps in [1, 2, 4, 8] {
            for element_bits in [8, 16, 32, 64] {
                let requested = SampleUse { lanes: 32, warps, element_bits };
                feeding += samples_are_layouts(&own, &instructions, requested, &[128, 128]).len();
            }
        }
    }
    assert!(feeding > 0);
    let none = NvidiaFamilies::of("unheard-of").samples(SampleUse { lanes: 32, warps: 4, element_bits: 16 });
    assert!(none.is_empty());
}

/// Tensor memory came with one generation, groups of warps with another, scales of single warps
/// with a third.
#[test]
fn samples_follow_the_architecture() {
    let names = |architecture: &str, warps, element_bits| -> BTreeSet<String> {
        let samples = NvidiaFamilies::of(architecture).samples(SampleUse { lanes: 32, warps, element_bits });
        samples.into_iter().map(|sample| sample.name).collect()
    };
    let all = |words: &[&str]| words.iter().map(|&word| word.to_owned()).collect::<BTreeSet<_>>();
    let products = ["mma", "mma-a", "mma-b"];
    assert_eq!(names("sm_89", 4, 16), all(&products));
    assert_eq!(names("sm_90", 4, 16), all(&[&products[..], &["wgmma", "wgmma-a", "nvmma-shared"]].concat()));
    let memory = ["tensor-memory", "tensor-memory-64", "nvmma-shared"];
    assert_eq!(names("sm_103a", 2, 16), all(&[&products[..], &memory].concat()));
    let registers = ["tmem-32x32b", "tmem-16x256b"];
    assert_eq!(names("sm_100a", 4, 16), all(&[&products[..], &memory, &registers].concat()));
    assert!(names("sm_100a", 4, 8).contains("tensor-memory-scales"));
    assert_eq!(names("sm_120", 4, 8), all(&[&products[..], &["mma-scale-a", "mma-scale-b", "nvmma-shared"]].concat()));
}

fn families() -> NvidiaFamilies {
    NvidiaFamilies::of("sm_90a")
}

#[test]
fn parts_of_the_instruction_table_have_one_kind() {
    tilewright_vendor_testkit::rows::parts_have_one_kind::<tilewright_nvidia::Nvidia>();
}
