//! Dots of whole tiles: layouts of the `dpas` family, and calls of its builtin in the code.
#![allow(clippy::unwrap_used)]

use std::process::Command;

use tilewright_vendor_testkit::dots;

use dots::{assembly, described, is_of_families, object, planned, proven, question, warps};
use tilewright_intel::IntelTarget;
use tilewright_intel::compile::for_older_compilers;
use tilewright_layout::FamilySpec;
use tilewright_plan::contract::{Contraction, Question};
use tilewright_plugin::Target;

fn targets() -> [IntelTarget; 2] {
    [
        ("max1550", include_str!("../../../../targets/max1550.toml")),
        ("b580", include_str!("../../../../targets/b580.toml")),
    ]
    .map(|(name, text)| IntelTarget::new(described(name, text)).unwrap())
}

fn dpas(plan: &Contraction, element_bits: u32, lanes: i64) -> FamilySpec {
    let row = plan.row().unwrap();
    let repeat: i64 = row.strip_prefix("dpas.8x").and_then(|rest| rest.split('.').next()).unwrap().parse().unwrap();
    FamilySpec::new("dpas")
        .with("repeat_count", repeat)
        .with("systolic_depth", 8i64)
        .with("execution_size", 16i64)
        .with("ops_per_channel", 32 / i64::from(element_bits))
        .with("threads_per_warp", lanes)
        .with("warps_per_cta", warps(plan))
        .with("rep_cluster", [1i64, 1])
}

#[test]
fn layouts_are_those_of_the_dpas_family() {
    for target in targets() {
        // Of K, a lane has in registers of both factors: nothing of 16-bit elements, of bytes two.
        for (types, bits, width) in
            [(["f16", "f16", "f32"], 16, 1), (["bf16", "bf16", "f32"], 16, 1), (["i8", "i8", "i32"], 8, 2)]
        {
            let asked = Question { k_width: Some(width), ..question(&target, [32, 32, 32], types) };
            let plan = proven(&target, &asked);
            let lanes = i64::from(target.description().lanes.default);
            is_of_families(&target, &plan, &dpas(&plan, bits, lanes), None);
        }
    }
}

/// Calls of imported functions whose names have a word in them.
fn calls_of(text: &str, word: &str) -> u64 {
    let imported = text.lines().filter(|line| line.contains("LinkageAttributes") && line.contains(word));
    let ids: Vec<&str> =
        imported.filter_map(|line| line.split_whitespace().find(|word| word.starts_with('%'))).collect();
    let calls = text.lines().filter(|line| line.contains("OpFunctionCall"));
    calls.filter(|line| ids.iter().any(|id| line.split_whitespace().any(|word| word == *id))).count() as u64
}

#[test]
fn code_calls_the_builtin_as_often_as_the_plan_says() {
    for target in targets() {
        for types in [["f16", "f16", "f32"], ["i8", "i8", "i32"], ["i8", "e4m3", "f32"]] {
            let plan = proven(&target, &question(&target, [32, 64, 32], types));
            assert!(plan.row().is_some_and(|row| row.starts_with("dpas")), "{types:?}: {}", plan.unit_name());
            let text = assembly(&target, &plan);
            assert!(text.contains("matrix_mad"), "{text}");
            assert_eq!(calls_of(&text, "matrix_mad"), plan.cost.issues / plan.chunks(), "{types:?}");
        }
    }
}

#[test]
fn code_imports_the_builtin_of_the_types() {
    // cl_intel_subgroup_matrix_multiply_accumulate and its extensions for f16 and bf16 sums: names, and how compilers of
    // OpenCL C mangle their arguments, for eight rows and sub-groups of 16.
    for (types, builtin) in [
        (["f16", "f16", "f32"], "_Z38intel_sub_group_f16_f16_matrix_mad_k16Dv8_sDv8_iDv8_f"),
        (["bf16", "bf16", "f32"], "_Z40intel_sub_group_bf16_bf16_matrix_mad_k16Dv8_sDv8_iDv8_f"),
        (["i8", "i8", "i32"], "_Z36intel_sub_group_i8_i8_matrix_mad_k32Dv8_sDv8_iS0_"),
        (["u8", "i8", "i32"], "_Z36intel_sub_group_u8_i8_matrix_mad_k32Dv8_tDv8_iS0_"),
        (["f16", "f16", "f16"], "_Z38intel_sub_group_f16_f16_matrix_mad_k16Dv8_sDv8_iDv8_Dh"),
        (["bf16", "bf16", "bf16"], "_Z40intel_sub_group_bf16_bf16_matrix_mad_k16Dv8_sDv8_iS_"),
        (["e4m3", "e5m2", "f32"], "_Z38intel_sub_group_f16_f16_matrix_mad_k16Dv8_sDv8_iDv8_f"),
    ] {
        for target in targets() {
            let plan = planned(&target, &question(&target, [32, 64, 32], types));
            let text = assembly(&target, &plan);
            assert!(text.contains(&format!("\"{builtin}\"")), "{types:?} by {}: {text}", plan.unit_name());
            let imported = |word: &str| {
                text.lines().filter(|line| line.contains("LinkageAttributes") && line.contains(word)).count()
            };
            let others = imported("_2d_block_read_") + imported("matrix_mad");
            assert_eq!((imported("matrix_mad"), imported("")), (1, others), "{types:?} imports no other");
        }
    }
}

/// Lines of the machine code that the offline compiler makes of a module and that name an instruction; `None` where it, or
/// its disassembler, is not at hand.
fn machine_code(spirv: &[u8], device: &str, word: &str) -> Option<usize> {
    let directory = tempfile::tempdir().unwrap();
    let at = directory.path();
    std::fs::write(at.join("dot.spv"), spirv).unwrap();
    let run = |arguments: &[&str]| Command::new("ocloc").args(arguments).current_dir(at).output().ok();
    let made = run(&["compile", "-spirv_input", "-device", device, "-file", "dot.spv", "-out_dir", "made"])?;
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stdout));
    let files = || std::fs::read_dir(at.join("made")).unwrap().map(|file| file.unwrap().path());
    let binary = files().find(|file| file.extension().is_some_and(|end| end == "bin")).unwrap();
    run(&["disasm", "-file", binary.to_str().unwrap(), "-device", device, "-dump", "code"])?;
    let mut files = std::fs::read_dir(at.join("code")).ok()?.map(|file| file.unwrap().path());
    let listing = files.find(|file| file.extension().is_some_and(|end| end == "asm"))?;
    let text = std::fs::read_to_string(listing).unwrap();
    Some(text.lines().filter(|line| line.trim_start().starts_with(word)).count())
}

/// Debian 12's compiler knows no builtins for loads of blocks, but functions of its own; with these all of a product is in its
/// code: the loads, and `dpas` as often as the plan issues it, or as a chunk of it does.
#[test]
fn the_offline_compiler_makes_dpas_behind_loads_of_blocks() {
    let target = IntelTarget::new(described("max1550", include_str!("../../../../targets/max1550.toml"))).unwrap();
    for types in [["f16", "f16", "f32"], ["bf16", "bf16", "f32"], ["i8", "i8", "i32"]] {
        // Rows of 64 bytes, the least that blocks are loaded of.
        let columns = if types[0] == "i8" { 64 } else { 32 };
        for shape in [[16, columns, 64], [8, columns, 128]] {
            let question = Question { warps: 1, ..question(&target, shape, types) };
            let plan = planned(&target, &question);
            assert!(plan.row().is_some_and(|row| row.starts_with("dpas")), "{types:?}: {}", plan.unit_name());
            let calls = calls_of(&assembly(&target, &plan), "_2d_block_read_");
            assert!(calls >= 2, "{types:?} {shape:?} loads both factors by blocks");
            let older = for_older_compilers(&object(&target, &plan)).unwrap().expect("it loads blocks");
            let device = &target.description().architecture;
            match machine_code(&older, device, "dpas.8x") {
                // The compiler may write the turns of the loop over chunks one after the other.
                Some(found) => assert!(
                    [plan.cost.issues / plan.chunks(), plan.cost.issues].contains(&(found as u64)),
                    "{types:?} {shape:?}: {found} of {}",
                    plan.cost.issues
                ),
                None => {
                    eprintln!("LEVEL LOWER: `ocloc` and its disassembler are not installed, {types:?} was left out");
                    continue;
                }
            }
            let loads = machine_code(&older, device, "send.ugm").unwrap_or_default();
            assert!(
                loads as u64 >= calls,
                "{types:?} {shape:?}: {loads} accesses of memory for {calls} loads of blocks"
            );
        }
    }
    // Without loads of blocks nothing changes.
    let lone = Question { warps: 1, ..question(&target, [8, 16, 16], ["f16", "f16", "f32"]) };
    assert_eq!(for_older_compilers(&object(&target, &planned(&target, &lone))).unwrap(), None);
}

#[test]
fn the_offline_compiler_makes_dpas_of_it() {
    for (name, text, lanes, rows) in [
        ("max1550", include_str!("../../../../targets/max1550.toml"), 16, 8),
        ("a770", include_str!("../../../../targets/a770.toml"), 8, 8),
    ] {
        let target = IntelTarget::new(described(name, text)).unwrap();
        for types in [["f16", "f16", "f32"], ["bf16", "bf16", "f32"], ["i8", "i8", "i32"]] {
            // Rows of 32 bytes, of which no blocks are loaded: the offline compiler of Debian 12 leaves these to be linked.
            let k = if types[0] == "i8" { 32 } else { 16 };
            let question = Question { warps: 1, ..question(&target, [rows, lanes, k], types) };
            let plan = planned(&target, &question);
            assert!(plan.row().is_some_and(|row| row.starts_with("dpas")), "{name} {types:?}: {}", plan.unit_name());
            let spirv = object(&target, &plan);
            match machine_code(&spirv, &target.description().architecture, "dpas.8x") {
                Some(found) => assert_eq!(found as u64, plan.cost.issues, "{name} {types:?}"),
                None => eprintln!(
                    "LEVEL LOWER: `ocloc` and its disassembler are not installed, {name} {types:?} was left out"
                ),
            }
        }
    }
}
