//! The instruction rows of this plugin against the vendor's calculator, and against its families.

#[path = "../../../framework/tests/known_answers/mod.rs"]
mod known_answers;

use std::collections::BTreeSet;

use known_answers::{full_text, numbers, same_layout};
use serde_json::Value;
use tilewright::layout::{Bases, Dim, Families, FamilySpec, LinearLayout};
use tilewright::target::{Instruction, Operand};
use tilewright_amd::families::VendorFamilies;
use tilewright_amd::instructions::rows;

/// The dense instructions of each architecture as the calculator describes them.
const CALCULATED: &str = include_str!("data/matrix_instructions.json");
const GFX950: &str = include_str!("data/gfx950_instructions.json");
const ARCHITECTURES: [(&str, &str); 3] = [("cdna1", "gfx908"), ("cdna2", "gfx90a"), ("cdna3", "gfx942")];

fn register<'a>(row: &'a Instruction, wanted: &str) -> (&'a str, u32, &'a LinearLayout) {
    let found = row.operands.iter().find_map(|operand| match operand {
        Operand::Register { role, element, bits, layout } if role == wanted => Some((element.as_str(), *bits, layout)),
        _ => None,
    });
    found.unwrap_or_else(|| panic!("{} has no {wanted}", row.name))
}

fn texts(excerpt: &str, file: &str) -> Vec<Value> {
    let full = full_text(file);
    std::iter::once(excerpt)
        .chain(full.as_deref())
        .map(|text| serde_json::from_str(text).expect("a table is JSON"))
        .collect()
}

/// The layout of published bases, `[i, k, block]` and the like; one block has no axis.
fn published(bases: &Value, operand: &Instruction, role: &str) -> LinearLayout {
    let (_, _, ours) = register(operand, role);
    let axes = ours.outs().len();
    let images = |value: &Value| -> Bases {
        let all = value.as_array().expect("bases").iter().map(numbers);
        all.map(|image| {
            assert!(image[axes..].iter().all(|&c| c == 0), "one block, yet {image:?}");
            image[..axes].to_vec()
        })
        .collect()
    };
    let sizes: Vec<_> = ours.outs().iter().map(|(dim, bits)| (dim, 1 << bits)).collect();
    let layout = LinearLayout::from_bases(
        &[(Dim::REGISTER, images(&bases["register"])), (Dim::LANE, images(&bases["lane"]))],
        &sizes,
    );
    layout.expect("the published bases fit the tile").require_surjective().expect("the tile is all there is")
}

fn element(name: &Value) -> &str {
    match name.as_str().expect("a name") {
        "fp64" => "f64",
        "fp32" => "f32",
        "fp16" => "f16",
        "int8" => "i8",
        "int32" => "i32",
        "amd_fp8" => "fp8",
        "amd_bf8" => "bf8",
        other => other,
    }
}

#[test]
fn operands_are_as_calculated() {
    for table in texts(CALCULATED, "reference/amd_matrix_instructions.json") {
        for (generation, architecture) in ARCHITECTURES {
            let rows = rows(architecture);
            let mut checked = BTreeSet::new();
            for (name, entry) in table[generation].as_object().expect("instructions by name") {
                if entry["sparse"] == true {
                    continue;
                }
                let row = rows.iter().find(|row| row.name == *name);
                check(row.unwrap_or_else(|| panic!("{architecture} has no {name}")), entry);
                checked.insert(name.clone());
            }
            let all: BTreeSet<_> = rows.into_iter().map(|row| row.name).collect();
            assert_eq!(checked, all, "the dense instructions of {architecture}");
        }
    }
}

fn check(row: &Instruction, entry: &Value) {
    assert_eq!(row.cycles, entry["cycles"].as_f64(), "{}", row.name);
    let types = [("a", &entry["in_a"]), ("b", &entry["in_b"]), ("c", &entry["out"]), ("d", &entry["out"])];
    for (role, of) in types {
        let (found, bits, layout) = register(row, role);
        assert_eq!(
            (found, u64::from(bits)),
            (element(&of["name"]), of["bits"].as_u64().expect("bits")),
            "{}",
            row.name
        );
        let bases = &entry["waves"]["64"][if role == "c" { "d" } else { role }]["f2_bases"];
        same_layout(layout, &published(bases, row, role)).unwrap_or_else(|why| panic!("{role} of {}: {why}", row.name));
    }
}

#[test]
fn operands_of_gfx950_are_as_calculated() {
    let rows = rows("gfx950");
    for table in texts(GFX950, "reference/amd_gfx950_instructions.json") {
        let entries = table["insts"].as_object().expect("instructions by name");
        assert_eq!(entries.len(), 8);
        for (name, entry) in entries {
            let own = name.replace("(fp8)", "(fp8,fp8)");
            let row = rows.iter().find(|row| row.name == own).unwrap_or_else(|| panic!("gfx950 has no {own}"));
            for role in ["a", "b", "d"] {
                let expected = published(&entry["bases"][role], row, role);
                same_layout(register(row, role).2, &expected).unwrap_or_else(|why| panic!("{role} of {own}: {why}"));
            }
        }
    }
}

/// The part of a family's layout that belongs to one warp.
fn of_one_warp(spec: &FamilySpec, shape: &[u64]) -> LinearLayout {
    let layout = families().resolve(spec, shape, &families()).expect("a layout");
    let outs: Vec<_> = layout.linear().outs().dims().collect();
    layout.linear().sublayout(&[Dim::REGISTER, Dim::LANE], &outs).expect("its dims")
}

#[test]
fn families_on_one_tile_are_the_operands_of_the_instruction() {
    for (version, architecture) in [(1, "gfx908"), (2, "gfx90a"), (3, "gfx942"), (4, "gfx950")] {
        let mut checked = 0;
        for row in rows(architecture) {
            let ((_, bits, d), (_, _, a), (_, _, b)) = (register(&row, "d"), register(&row, "a"), register(&row, "b"));
            if d.outs().len() > 2 {
                continue;
            }
            let size = |layout: &LinearLayout, axis| 1u64 << layout.out_bits(Dim::tensor(axis));
            let (m, n, k) = (size(d, 0), size(d, 1), size(a, 1));
            let mfma = FamilySpec::new("amd_mfma")
                .with("version", version)
                .with("instr_shape", [m as i64, n as i64, k as i64])
                .with("transposed", false)
                .with("warps_per_cta", [1, 1])
                .with("element_bitwidth", i64::from(bits));
            let operand = |index: i64, layout: &LinearLayout| {
                let width = 1i64 << layout.in_bits(Dim::REGISTER);
                FamilySpec::new("dot_operand").with("operand_index", index).with("k_width", width).of(mfma.clone())
            };
            assert_eq!(of_one_warp(&mfma, &[m, n]), *d, "d of {}", row.name);
            assert_eq!(of_one_warp(&operand(0, a), &[m, k]), *a, "a of {}", row.name);
            assert_eq!(of_one_warp(&operand(1, b), &[k, n]), *b, "b of {}", row.name);
            checked += 1;
        }
        assert!(checked >= 8, "{architecture}: {checked}");
    }
}

#[test]
fn rows_follow_the_architecture() {
    let count = |architecture| rows(architecture).len();
    assert_eq!(["gfx908", "gfx90a", "gfx942", "gfx950"].map(count), [20, 27, 32, 44]);
    for other in ["", "gfx1100", "sm_90", "gfx9"] {
        assert!(rows(other).is_empty(), "{other}");
    }
}

fn families() -> VendorFamilies {
    VendorFamilies::of("gfx942")
}
