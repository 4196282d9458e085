//! The layout families of this plugin compared with known answers, and with random parameters.

use crate::prelude::*;
use serde_json::Value;
use tilewright_nvidia_tables::NvidiaTables;
use tilewright_plugin::{TablesOnly, VendorTarget};
use tilewright_testkit::known_answers::{all_agree, check_layout, list_family_names};
use tilewright_vendor_testkit::rows::samples_are_layouts;

const SAMPLE: &str = include_str!("../data/layouts.jsonl");

#[test]
fn families_agree() {
    check_families_agree(Answers::Sample);
}

pub fn check_families_agree(answers: Answers) {
    let vendor_families = families();
    let set = FamilyProviders::new(vec![&NeutralFamilies, &vendor_families]);
    let served =
        ["slice", "dot_operand", "nvidia_mma", "nvmma_shared", "tensor_memory", "tensor_memory_scales", "tmem_reg"];
    let is_vendor_row = |row: &Value| {
        let names = list_family_names(&row["params"]);
        names.last().is_some_and(|name| name.starts_with("nv") || name.starts_with("tensor_memory"))
            && names.iter().all(|name| served.contains(&name.as_str()))
    };
    all_agree(&answers.rows(SAMPLE, "oracle/layouts.jsonl"), is_vendor_row, |row| check_layout(row, &set));
}

#[test]
fn samples_are_layouts_and_match_instruction_operands() {
    let mut operand_count = 0;
    for architecture in ["sm_80", "sm_89", "sm_90a", "sm_100a", "sm_103", "sm_120"] {
        let vendor_families = NvidiaFamilies::for_architecture(architecture);
        let instructions = instructions_of(architecture);
        for warps in [1, 2, 4, 8] {
            for element_bits in [8, 16, 32, 64] {
                let requested = SampleLayoutRequest { lanes: 32, warps, element_bits };
                operand_count += samples_are_layouts(&vendor_families, &instructions, requested, &[128, 128]).len();
            }
        }
    }
    assert!(operand_count > 0);
    let none = NvidiaFamilies::for_architecture("unheard-of").samples(SampleLayoutRequest {
        lanes: 32,
        warps: 4,
        element_bits: 16,
    });
    assert!(none.is_empty());
}

/// Checks that samples depend on the architecture: tensor memory exists in one generation, warpgroup MMAs in another,
/// block scaling of single-warp MMAs in a third.
#[test]
fn samples_follow_the_architecture() {
    let names = |architecture: &str, warps, element_bits| -> BTreeSet<String> {
        let samples = NvidiaFamilies::for_architecture(architecture).samples(SampleLayoutRequest {
            lanes: 32,
            warps,
            element_bits,
        });
        samples.into_iter().map(|sample| sample.name).collect()
    };
    let all = |words: &[&str]| words.iter().map(|&word| word.to_owned()).collect::<BTreeSet<_>>();
    let mma_families = ["mma", "mma-a", "mma-b"];
    assert_eq!(names("sm_89", 4, 16), all(&mma_families));
    assert_eq!(names("sm_90", 4, 16), all(&[&mma_families[..], &["wgmma", "wgmma-a", "nvmma-shared"]].concat()));
    let memory = ["tensor-memory", "tensor-memory-64", "nvmma-shared"];
    assert_eq!(names("sm_103a", 2, 16), all(&[&mma_families[..], &memory].concat()));
    let registers = ["tmem-32x32b", "tmem-16x256b"];
    assert_eq!(names("sm_100a", 4, 16), all(&[&mma_families[..], &memory, &registers].concat()));
    assert!(names("sm_100a", 4, 8).contains("tensor-memory-scales"));
    assert_eq!(
        names("sm_120", 4, 8),
        all(&[&mma_families[..], &["mma-scale-a", "mma-scale-b", "nvmma-shared"]].concat())
    );
}

fn families() -> NvidiaFamilies {
    NvidiaFamilies::for_architecture("sm_90a")
}

#[test]
fn groups_of_the_instruction_table_have_one_kind() {
    tilewright_vendor_testkit::rows::groups_have_one_kind::<NvidiaTables>();
}

#[test]
fn tables_alone_serve_targets_without_code_and_devices() {
    let tables = VendorTarget::<TablesOnly<NvidiaTables>>::new(target_description("h100")).expect("it is served");
    assert_eq!(tables.instructions(), target("h100").instructions());
    let options = CompileOptions { emit: vec![CodeFormat::Assembly], optimisation: 0, ..CompileOptions::default() };
    let compiled = tables.compile(&Module { kernels: Vec::new() }, &options);
    assert!(matches!(compiled, Err(CompileError::Unsupported(why)) if why.contains("`sm_90a`: load a plugin")));
    assert!(matches!(tables.devices(), Err(DeviceError::NoRuntime(why)) if why.contains("`sm_90a`: load a plugin")));
}
