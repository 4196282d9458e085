//! The instruction table of this plugin compared with published tables, and with the plugin's layout families.

use serde_json::Value;
use tilewright_intel_tables::families::IntelFamilies;
use tilewright_intel_tables::instructions::{instructions_of, omitted_instructions_of};
use tilewright_vendor_testkit::prelude::*;
use tilewright_vendor_testkit::rows::{check_published_layout, expect_register_operand, resolve_family_layout};

/// Returns the MMA instructions of an architecture; prefetches have separate tests.
fn mma_instructions(architecture: &str) -> Vec<Instruction> {
    instructions_of(architecture).into_iter().filter(|row| row.kind == InstructionKind::Matrix).collect()
}

const PUBLISHED: &str = include_str!("../data/matrix_instructions.json");

/// Converts a published name such as `XE_8x16x32_S32S8S8S32_TT` to this table's `dpas.8x8.s32.s8.s8.s32`. The published
/// tables with these names take B in 32-bit registers, as this table does; newer ones take vectors of B's own elements.
fn name_of(atom: &Value) -> Option<String> {
    let (shape, types) = atom["name"].as_str()?.strip_prefix("XE_")?.strip_suffix("_TT")?.split_once('_')?;
    let (repeat, _) = shape.split_once('x')?;
    let mut listed = Vec::new();
    let mut rest = types;
    while !rest.is_empty() {
        let known = ["TF32", "BF16", "F16", "F32", "S32", "S8", "U8"];
        let element = known.into_iter().find(|element| rest.starts_with(element))?;
        rest = &rest[element.len()..];
        listed.push(element.to_lowercase());
    }
    (listed.len() == 4).then(|| format!("dpas.8x{repeat}.{}", listed.join(".")))
}

#[test]
fn operands_are_as_published() {
    check_operands_are_as_published(Answers::Sample);
}

pub fn check_operands_are_as_published(answers: Answers) {
    let all = instructions_of("pvc");
    let mut checked = BTreeSet::new();
    for atom in answers.entries(PUBLISHED, "reference/matrix_instruction_tv_layouts.json", "atoms") {
        let Some(name) = name_of(&atom) else { continue };
        let row = all.iter().find(|row| row.name == name).unwrap_or_else(|| panic!("no row {name}"));
        let rows = atom["shape_mnk"][0].as_u64().expect("M");
        let columns = atom["shape_mnk"][1].as_u64().expect("N");
        // Published tiles are M x K, N x K and M x N, column-major.
        check_published_layout(row, "a", &atom["ALayout"], rows, false);
        check_published_layout(row, "b", &atom["BLayout"], columns, true);
        check_published_layout(row, "d", &atom["CLayout"], rows, false);
        checked.insert(name);
    }
    assert_eq!(checked.len(), 28, "seven combinations of types with four repeat counts each");
}

/// Checks layouts against the OpenCL extension. Each work item holds its part of every row of `a` (32 bits in
/// sub-groups of 8, 16 bits in sub-groups of 16), and the column of `b` and of the result whose index is the work
/// item's.
#[test]
fn work_items_match_the_extension() {
    for (architecture, lanes) in [("dg2", 8u64), ("pvc", 16), ("xe2", 16)] {
        for row in mma_instructions(architecture) {
            let (element, bits, a) = expect_register_operand(&row, "a");
            if element == "tf32" {
                // Rows of tf32 have eight elements; published tables, checked by other tests, give their assignment to
                // lanes.
                continue;
            }
            let (k_elements, registers) = (256 / lanes / u64::from(bits), 1 << a.in_bits(Dim::REGISTER));
            let ((_, _, b), (_, _, d)) = (expect_register_operand(&row, "b"), expect_register_operand(&row, "d"));
            let at = |layout: &LinearLayout, register, lane| {
                let coordinates = layout.apply(&[(Dim::REGISTER, register), (Dim::LANE, lane)]).expect("in the tile");
                (coordinates[0].1, coordinates[1].1)
            };
            for lane in 0..lanes {
                for register in 0..registers {
                    let coordinates = (register / k_elements, lane * k_elements + register % k_elements);
                    assert_eq!(at(a, register, lane), coordinates, "a of {} on {architecture}", row.name);
                }
                for register in 0..1 << b.in_bits(Dim::REGISTER) {
                    assert_eq!(at(b, register, lane), (register, lane), "b of {} on {architecture}", row.name);
                }
                for register in 0..1 << d.in_bits(Dim::REGISTER) {
                    assert_eq!(at(d, register, lane), (register, lane), "d of {} on {architecture}", row.name);
                }
            }
            assert_eq!(b.in_bits(Dim::LANE), lanes.trailing_zeros());
            assert_eq!(b.in_bits(Dim::REGISTER), (256 / bits).trailing_zeros());
        }
    }
}

/// Checks that only instructions for sub-groups of 16 have tf32 operands or 16-bit accumulators.
#[test]
fn narrow_instructions_multiply_fewer_types() {
    let types = |architecture| -> BTreeSet<String> {
        let name = |row: Instruction| row.name.splitn(3, '.').nth(2).map(str::to_owned);
        instructions_of(architecture).into_iter().filter_map(name).collect()
    };
    let more = &types("xe2") - &types("dg2");
    assert!(types("dg2").is_subset(&types("xe2")));
    assert_eq!(more.into_iter().collect::<Vec<_>>(), ["bf16.bf16.bf16.bf16", "f16.f16.f16.f16", "f32.tf32.tf32.f32"]);
}

#[test]
fn families_on_one_tile_are_the_operands_of_the_instruction() {
    let mut checked = 0;
    for row in ["pvc", "xe2", "dg2"].into_iter().flat_map(mma_instructions) {
        let ((_, _, d), (_, bits, a), (_, _, b)) = (
            expect_register_operand(&row, "d"),
            expect_register_operand(&row, "a"),
            expect_register_operand(&row, "b"),
        );
        let size = |layout: &LinearLayout, axis| 1u64 << layout.out_bits(Dim::tensor(axis));
        let (m, n, k) = (size(d, 0), size(d, 1), size(a, 1));
        if !a.is_injective() {
            // One row of tf32 leaves half the lanes idle: the family rejects that.
            continue;
        }
        let dpas = FamilySpec::new("dpas")
            .with_parameter("repeat_count", m as i64)
            .with_parameter("systolic_depth", 8)
            .with_parameter("execution_size", n as i64)
            .with_parameter("ops_per_channel", i64::from(32 / bits))
            .with_parameter("threads_per_warp", n as i64)
            .with_parameter("warps_per_cta", [1, 1])
            .with_parameter("rep_cluster", [1, 1]);
        let operand = |index: i64| {
            FamilySpec::new("dot_operand").with_parameter("operand_index", index).with_parent(dpas.clone())
        };
        assert_eq!(of_one_warp(&dpas, &[m, n]), *d, "d of {}", row.name);
        assert_eq!(of_one_warp(&operand(0), &[m, k]), *a, "a of {}", row.name);
        assert_eq!(of_one_warp(&operand(1), &[k, n]), *b, "b of {}", row.name);
        checked += 1;
    }
    assert_eq!(checked, 51 + 51 + 40);
}

/// Checks that the `dpas` on two-bit operands, which Intel Graphics Assembler lists, are known as unused. Two-bit
/// operands combine with each other or with other integers.
#[test]
fn mmas_of_two_bits_are_known_and_unused() {
    for (architecture, columns) in [("pvc", 16), ("xe2", 16), ("dg2", 8)] {
        let forms = omitted_instructions_of(architecture);
        assert_eq!(forms.len(), 6 * 6 - 4 * 4, "all pairs but those that have rows");
        for form in forms {
            assert!(form.types.iter().any(|(_, element)| element.ends_with('2') && element.len() == 2));
            assert_eq!(form.shapes.iter().map(|shape| shape[0]).collect::<Vec<_>>(), [1, 2, 4, 8]);
            assert!(form.shapes.iter().all(|shape| shape[1] == columns) && !form.reason.is_empty());
        }
    }
    assert!(omitted_instructions_of("gfx942").is_empty());
}

#[test]
fn rows_follow_the_architecture() {
    for (architecture, count) in [("pvc", 52 + 42 + 48), ("xe2", 52 + 42 + 48), ("dg2", 40)] {
        let names: BTreeSet<_> = instructions_of(architecture).into_iter().map(|row| row.name).collect();
        assert_eq!((names.len(), instructions_of(architecture).len()), (count, count), "names are unique");
    }
    for other in ["", "dg", "sm_90", "gfx942"] {
        assert!(instructions_of(other).is_empty(), "{other}");
    }
}

fn of_one_warp(spec: &FamilySpec, shape: &[u64]) -> LinearLayout {
    resolve_family_layout(&families(), spec, shape, &[Dim::REGISTER, Dim::LANE])
}

fn families() -> IntelFamilies {
    IntelFamilies::for_architecture("pvc")
}
