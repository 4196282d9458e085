//! The instruction table of this plugin compared with AMD's calculator and with the plugin's layout families.

use serde_json::Value;
use tilewright_amd_tables::families::AmdFamilies;
use tilewright_amd_tables::instructions::{instructions_of, omitted_instructions_of};
use tilewright_testkit::known_answers::numbers;
use tilewright_vendor_testkit::prelude::*;
use tilewright_vendor_testkit::rows::{expect_register_operand, resolve_family_layout};

/// The dense instructions of each architecture, with layouts as AMD's calculator prints them.
const CALCULATED: &str = include_str!("../data/matrix_instructions.json");
const GFX950: &str = include_str!("../data/gfx950_instructions.json");
const ARCHITECTURES: [(&str, &str); 5] =
    [("cdna1", "gfx908"), ("cdna2", "gfx90a"), ("cdna3", "gfx942"), ("rdna3", "gfx1100"), ("rdna4", "gfx1201")];

/// Returns the layout with published bases, `[i, k, block]` and the like; a single block has no axis.
fn published(bases: &Value, operand: &Instruction, role: &str) -> LinearLayout {
    let (_, _, ours) = expect_register_operand(operand, role);
    let axes = ours.outs().len();
    let images = |value: &Value| -> DimBases {
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
        "amd_fp8" => "fp8_fnuz",
        "amd_bf8" => "bf8_fnuz",
        other => other,
    }
}

#[test]
fn operands_are_as_calculated() {
    check_operands_are_as_calculated(Answers::Sample);
}

pub fn check_operands_are_as_calculated(answers: Answers) {
    for table in answers.files(CALCULATED, "reference/amd_matrix_instructions.json") {
        for (generation, architecture) in ARCHITECTURES {
            let rows = instructions_of(architecture);
            let mut checked = BTreeSet::new();
            for (name, entry) in table[generation].as_object().expect("instructions by name") {
                if entry["sparse"] == true {
                    continue;
                }
                for (lanes, bases) in entry["waves"].as_object().expect("operands by lanes") {
                    let is_wave64 = generation.starts_with("rdna") && lanes == "64";
                    let name = if is_wave64 { format!("{name}(wave64)") } else { name.clone() };
                    let forms: Vec<_> = rows.iter().filter(|row| without_modifiers(&row.name) == name).collect();
                    let expected = if name.contains("_iu") { 4 * 2 } else { 1 };
                    assert_eq!(forms.len(), expected, "{architecture}: {name}, signs of both factors and saturation");
                    for row in forms {
                        check(row, entry, bases);
                        checked.insert(row.name.clone());
                    }
                }
            }
            let mma_instructions = rows.into_iter().filter(|row| row.kind == InstructionKind::Matrix);
            let all: BTreeSet<_> = mma_instructions.map(|row| row.name).collect();
            assert_eq!(checked, all, "the dense instructions of {architecture}");
        }
    }
}

/// Returns an instruction's name without the modifiers for operand signs and saturation, but with the wave size.
fn without_modifiers(name: &str) -> String {
    let (instruction, _) = name.split_once('(').unwrap_or((name, ""));
    let wave = if name.ends_with("(wave64)") { "(wave64)" } else { "" };
    format!("{instruction}{wave}")
}

fn check(row: &Instruction, entry: &Value, bases: &Value) {
    assert_eq!(row.cycles, entry["cycles"].as_f64(), "{}", row.name);
    let types = [("a", &entry["in_a"]), ("b", &entry["in_b"]), ("c", &entry["out"]), ("d", &entry["out"])];
    for (role, of) in types {
        let (found, bits, layout) = expect_register_operand(row, role);
        // An unsigned integer has the layout of the signed one.
        let signed = found.replace("u8", "iu8").replace("u4", "iu4").replace("ii", "i");
        assert_eq!(signed, element(&of["name"]), "{}", row.name);
        let bases = &bases[if role == "c" { "d" } else { role }]["f2_bases"];
        if bases.is_null() {
            // The calculator has no map if one half of each register stays unchanged; the assembler test confirms that
            // there is a register for each element.
            assert_eq!((of["bits"].as_u64(), bits), (Some(16), 32), "{role} of {}", row.name);
            continue;
        }
        assert_eq!(of["bits"].as_u64(), Some(u64::from(bits)), "{}", row.name);
        let mut expected = published(bases, row, role);
        if without_modifiers(&row.name) == "v_wmma_i32_16x16x16_iu4(wave64)" && expected.in_bits(Dim::LANE) == 5 {
            // An operand fills one register of 32 lanes; RDNA 4's table does not cover the other lanes.
            let copies = LinearLayout::zeros(2, Dim::LANE, Dim::tensor(0), 1).expect("one lane bit");
            expected = expected.direct_sum(&copies).expect("six lane bits");
        }
        same_layout(layout, &expected).unwrap_or_else(|why| panic!("{role} of {}: {why}", row.name));
    }
}

#[test]
fn operands_of_gfx950_are_as_calculated() {
    check_operands_of_gfx950_are_as_calculated(Answers::Sample);
}

pub fn check_operands_of_gfx950_are_as_calculated(answers: Answers) {
    let rows = instructions_of("gfx950");
    for table in answers.files(GFX950, "reference/amd_gfx950_instructions.json") {
        let entries = table["insts"].as_object().expect("instructions by name");
        assert_eq!(entries.len(), 8);
        for (name, entry) in entries {
            let own = name.replace("(fp8)", "(fp8,fp8)");
            let row = rows.iter().find(|row| row.name == own).unwrap_or_else(|| panic!("gfx950 has no {own}"));
            for role in ["a", "b", "d"] {
                let expected = published(&entry["bases"][role], row, role);
                same_layout(expect_register_operand(row, role).2, &expected)
                    .unwrap_or_else(|why| panic!("{role} of {own}: {why}"));
            }
        }
    }
}

#[test]
fn scaled_mmas_match_plain_ones_and_scales_match_their_family() {
    let all = instructions_of("gfx950");
    let scaled: Vec<_> = all.iter().filter(|row| row.name.contains("_scale_")).collect();
    assert_eq!(scaled.len(), 2 * 5 * 5);
    for row in scaled {
        let name = row.name.replace("_scale_", "_");
        let plain = all.iter().find(|plain| plain.name == name).unwrap_or_else(|| panic!("gfx950 has no {name}"));
        assert_eq!(row.operands[..4], plain.operands[..]);
        let (m, k) = (16 << u32::from(name.contains("_32x32x")), if name.contains("_32x32x") { 64 } else { 128 });
        for (index, role) in [(0i64, "scale_a"), (1, "scale_b")] {
            let family = FamilySpec::new("mfma_scale")
                .with_parameter("operand_index", index)
                .with_parameter("mdim", m as i64)
                .with_parameter("tiles_per_warp", [1, 1])
                .with_parameter("warps_per_cta", [1, 1]);
            let (element, bits, layout) = expect_register_operand(row, role);
            assert_eq!((element, bits), ("e8m0", 8));
            assert_eq!(of_one_warp(&family, &[m, k / 32]), *layout, "{role} of {}", row.name);
        }
    }
}

/// Returns the parameters of the family (layout constructor) for the result of an instruction of this shape.
fn result_of(architecture: &str, shape: [u64; 3], bits: u32) -> FamilySpec {
    let shape = shape.map(|size| size as i64);
    let mfma = ["gfx908", "gfx90a", "gfx942", "gfx950"].iter().position(|&known| known == architecture);
    match mfma {
        Some(at) => FamilySpec::new("amd_mfma")
            .with_parameter("version", at as i64 + 1)
            .with_parameter("instr_shape", shape)
            .with_parameter("transposed", false)
            .with_parameter("warps_per_cta", [1, 1])
            .with_parameter("element_bitwidth", i64::from(bits)),
        None => {
            let version = ["gfx1100", "gfx1201", "gfx1250"].iter().position(|&known| known == architecture);
            let version = version.expect("a known architecture") as i64 + 1;
            FamilySpec::new("amd_wmma")
                .with_parameter("version", version)
                .with_parameter("instr_shape", shape)
                .with_parameter("transposed", false)
        }
    }
}

#[test]
fn families_on_one_tile_are_the_operands_of_the_instruction() {
    for architecture in ["gfx908", "gfx90a", "gfx942", "gfx950", "gfx1100", "gfx1201", "gfx1250"] {
        let mut checked = 0;
        for row in instructions_of(architecture).into_iter().filter(|row| row.kind == InstructionKind::Matrix) {
            let ((_, bits, d), (_, _, a), (_, _, b)) = (
                expect_register_operand(&row, "d"),
                expect_register_operand(&row, "a"),
                expect_register_operand(&row, "b"),
            );
            if d.outs().len() > 2 || row.name.ends_with("(wave64)") {
                continue;
            }
            let size = |layout: &LinearLayout, axis| 1u64 << layout.out_bits(Dim::tensor(axis));
            let (m, n, k) = (size(d, 0), size(d, 1), size(a, 1));
            let result = result_of(architecture, [m, n, k], bits);
            let operand = |index: usize, layout: &LinearLayout| {
                // Adjacent elements of K in a lane: its first registers, as long as they are consecutive.
                let registers = layout.bases_of(Dim::REGISTER);
                let width = registers.iter().zip(0..).take_while(|(basis, bit)| basis[1 - index] == 1 << bit).count();
                let spec = FamilySpec::new("dot_operand").with_parameter("operand_index", index as i64);
                spec.with_parameter("k_width", 1i64 << width).with_parent(result.clone())
            };
            assert_eq!(of_one_warp(&result, &[m, n]), *d, "d of {}", row.name);
            assert_eq!(of_one_warp(&operand(0, a), &[m, k]), *a, "a of {}", row.name);
            assert_eq!(of_one_warp(&operand(1, b), &[k, n]), *b, "b of {}", row.name);
            checked += 1;
        }
        assert!(checked >= 6, "{architecture}: {checked}");
    }
}

/// Checks that the sparse instructions of CDNA 3 and RDNA 4, which AMD's calculator lists, are known as unused.
#[test]
fn sparse_instructions_are_known_and_unused() {
    let count = |architecture| omitted_instructions_of(architecture).len();
    assert_eq!(["gfx90a", "gfx942", "gfx950", "gfx1100", "gfx1201", "gfx1250"].map(count), [0, 14, 28, 0, 11, 14 + 9]);
    for architecture in ["gfx942", "gfx950", "gfx1201", "gfx1250"] {
        for form in omitted_instructions_of(architecture) {
            let [[m, n, k]] = form.shapes[..] else { panic!("{} has one shape", form.name) };
            assert!(form.name.contains(&format!("_{m}x{n}x{k}_")) && !form.reason.is_empty(), "{}", form.name);
            assert_eq!(form.types.len(), 3, "{}", form.name);
            assert!(instructions_of(architecture).iter().all(|row| row.name != form.name), "{}", form.name);
        }
    }
}

/// Checks scaled MMAs of gfx1250 against publications. Triton's lit test of scaled dots has this layout of scales for
/// 16 rows and four blocks, and operands in runs of 16 bytes. LLVM passes operands in 16, 12 or 8 registers, and scales
/// in one register, or in two for blocks of 16.
#[test]
fn scaled_mmas_of_gfx1250_are_as_published() {
    let mut checked = [0, 0];
    for row in instructions_of("gfx1250").iter().filter(|row| row.name.contains("_f8f6f4(")) {
        for (role, axis) in [("a", 1), ("b", 0)] {
            let (element, bits, layout) = expect_register_operand(row, role);
            let registers = layout.bases_of(Dim::REGISTER);
            assert_eq!(
                bits << registers.len(),
                if element == "fp4" { 8 * 32 } else { 16 * 32 },
                "{role} of {}",
                row.name
            );
            let neighbours = registers.iter().zip(0..).take_while(|(basis, bit)| basis[axis] == 1 << bit).count();
            assert_eq!(bits << neighbours, 128, "{role} of {}", row.name);
        }
        checked[0] += 1;
        if !row.takes_scales() {
            continue;
        }
        let count = if row.name.contains("scale16") { 3 } else { 2 };
        for role in ["scale_a", "scale_b"] {
            let (_, bits, layout) = expect_register_operand(row, role);
            let registers: Vec<Vec<u64>> = (0..count).map(|bit| vec![0, 1 << bit]).collect();
            assert_eq!(layout.bases_of(Dim::REGISTER), registers, "{role} of {}", row.name);
            let lanes = [[1, 0], [2, 0], [4, 0], [8, 0], [0, 0]].map(|row| row.to_vec());
            assert_eq!((bits, layout.bases_of(Dim::LANE)), (8, lanes.to_vec()), "{role} of {}", row.name);
        }
        checked[1] += 1;
    }
    assert_eq!(checked, [19, 10]);
}

#[test]
fn rows_follow_the_architecture() {
    let count = |architecture| instructions_of(architecture).len();
    assert_eq!(["gfx908", "gfx90a", "gfx942", "gfx950"].map(count), [21, 28, 33, 140]);
    // RDNA has one entry for each wave size.
    assert_eq!(["gfx1100", "gfx1151", "gfx1200", "gfx1201", "gfx1250"].map(count), [40, 40, 64, 64, 29 + 2 * 9 + 1]);
    for other in ["", "gfx1030", "sm_90", "gfx9"] {
        assert!(instructions_of(other).is_empty(), "{other}");
    }
}

fn of_one_warp(spec: &FamilySpec, shape: &[u64]) -> LinearLayout {
    resolve_family_layout(&families(), spec, shape, &[Dim::REGISTER, Dim::LANE])
}

fn families() -> AmdFamilies {
    AmdFamilies::for_architecture("gfx942")
}
