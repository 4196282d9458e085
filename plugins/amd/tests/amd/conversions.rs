//! The assembly of conversions, looked at: what a lane stores to shared memory and loads from it,
//! the exchanges and the barriers are those of the plan, and nothing goes to scratch.
#![allow(clippy::unwrap_used)]

use crate::assembly;
use tilewright_vendor_testkit::conversions;
use tilewright_vendor_testkit::layouts;

use conversions::Case;
use layouts::blocked;
use tilewright_amd::AmdTarget;
use tilewright_plan::movement::Path;
use tilewright_plugin::{Emit, Target};
use tilewright_target::TargetDescription;

const CDNA: [(&str, &str); 4] = [
    ("mi100.toml", include_str!("../../../../targets/mi100.toml")),
    ("mi250.toml", include_str!("../../../../targets/mi250.toml")),
    ("mi300x.toml", include_str!("../../../../targets/mi300x.toml")),
    ("mi355x.toml", include_str!("../../../../targets/mi355x.toml")),
];
/// Each with the version of its matrix instructions.
const RDNA: [(&str, &str, u32); 2] = [
    ("rx7900xtx.toml", include_str!("../../../../targets/rx7900xtx.toml"), 1),
    ("rx9070xt.toml", include_str!("../../../../targets/rx9070xt.toml"), 2),
];

fn target((file, text): (&str, &str)) -> AmdTarget {
    AmdTarget::new(TargetDescription::from_toml(file, text).unwrap()).unwrap()
}

fn mi250() -> AmdTarget {
    target(CDNA[1])
}

/// An operand of `v_mfma_f32_32x32x8` and of its kin for bytes, for two by two warps.
fn mfma_operand(index: u32, k_width: u32) -> String {
    format!(
        "#ttg.dot_op<{{opIdx = {index}, parent = #ttg.amd_mfma<{{version = 2, warpsPerCTA = [2, 2], \
         instrShape = [32, 32, 8], isTransposed = false}}>, kWidth = {k_width}}}>"
    )
}

fn cases() -> Vec<Case> {
    let rows = |size: u64| blocked(&[1, size], &[8, 8], &[4, 1], &[1, 0]);
    let columns = |size: u64| blocked(&[size, 1], &[8, 8], &[1, 4], &[0, 1]);
    let wide = |order: [u64; 2]| blocked(&[1, 1], &[8, 8], &[4, 1], &order);
    let single = |order: [u64; 2]| blocked(&[1, 4], &[8, 8], &[1, 1], &order);
    let one = |order: [u64; 2]| blocked(&[1, 1], &[16, 4], &[1, 4], &order);
    let pairs = || blocked(&[1, 2], &[16, 4], &[2, 2], &[1, 0]);
    let cube = |order: [u64; 3]| match order[0] {
        2 => blocked(&[1, 1, 4], &[1, 8, 8], &[4, 1, 1], &order),
        _ => blocked(&[1, 4, 1], &[4, 4, 4], &[1, 1, 4], &order),
    };
    let in_lane = |order: [u64; 3]| blocked(&[1, 2, 4], &[64, 1, 1], &[4, 1, 1], &order);
    vec![
        Case::new("blocked to mfma operand a", Path::Shared, 16, &[128, 64], rows(8), mfma_operand(0, 4)),
        Case::new("blocked to mfma operand b", Path::Shared, 16, &[128, 64], rows(8), mfma_operand(1, 4)),
        Case::new("bytes to mfma operand a", Path::Shared, 8, &[128, 64], rows(8), mfma_operand(0, 4)),
        Case::new("words across warps", Path::Shared, 32, &[64, 64], rows(4), columns(4)),
        Case::new("64-bit elements across warps", Path::Shared, 64, &[64, 64], rows(2), columns(2)),
        Case::new("16 warps, more than is at hand at once", Path::Shared, 32, &[256, 128], long([16, 1]), long([8, 2])),
        Case::new("a source that warps replicate", Path::Shared, 16, &[16, 64], rows(8), columns(1)),
        Case::new(
            "a source whose copies nobody can share out",
            Path::Shared,
            32,
            &[16, 8],
            wide([1, 0]),
            blocked(&[1, 1], &[16, 4], &[1, 4], &[1, 0]),
        ),
        Case::new(
            "bytes of one warp",
            Path::Shared,
            8,
            &[32, 32],
            single([1, 0]),
            blocked(&[4, 1], &[8, 8], &[1, 1], &[1, 0]),
        ),
        Case::new(
            "bytes of one warp, gathered and scattered",
            Path::Shuffle,
            8,
            &[32, 32],
            single([1, 0]),
            blocked(&[4, 1], &[8, 8], &[1, 1], &[1, 0]),
        ),
        Case::new("lanes permuted", Path::Shuffle, 32, &[32, 8], wide([1, 0]), wide([0, 1])),
        Case::new("lanes permuted, bytes packed", Path::Shuffle, 8, &[8, 32], single([1, 0]), single([0, 1])),
        Case::new("lanes permuted, 64-bit elements", Path::Shuffle, 64, &[32, 8], wide([1, 0]), wide([0, 1])),
        Case::new("registers renamed", Path::Register, 16, &[256, 4, 8], in_lane([2, 1, 0]), in_lane([1, 2, 0])),
        Case::new("nothing to do", Path::None, 16, &[128, 64], rows(8), rows(8)),
        Case::new("operand a of what lies in columns", Path::Shared, 16, &[128, 64], columns(8), mfma_operand(0, 4)),
        Case::new("four rounds with little scratch", Path::Shared, 32, &[64, 64], rows(4), columns(4)).within(4096),
        Case::new("single bytes", Path::Shared, 8, &[32, 8], wide([1, 0]), one([0, 1])).showing(&["ds_write_b8"]),
        Case::new("single elements of 16 bits", Path::Shared, 16, &[32, 8], wide([1, 0]), one([0, 1]))
            .showing(&["ds_write_b16"]),
        Case::new("pairs of words", Path::Shared, 32, &[32, 16], rows(2), pairs())
            .showing(&["ds_write_b64", "ds_read_b64"]),
        Case::new("two axes of three change places", Path::Shared, 16, &[8, 16, 32], cube([2, 1, 0]), cube([1, 2, 0])),
    ]
}

/// For warps of 32 lanes, the operands being those of `v_wmma_f32_16x16x16` and of its kin for bytes.
fn cases_of_32_lanes(version: u32) -> Vec<Case> {
    let rows = |size: u64| blocked(&[1, size], &[8, 4], &[4, 1], &[1, 0]);
    let columns = |size: u64| blocked(&[size, 1], &[4, 8], &[1, 4], &[0, 1]);
    let wide = |order: [u64; 2]| blocked(&[1, 1], &[4, 8], &[4, 1], &order);
    let single = |order: [u64; 2]| blocked(&[1, 4], &[8, 4], &[1, 1], &order);
    let operand = |index: u32, k_width: u32| {
        format!(
            "#ttg.dot_op<{{opIdx = {index}, parent = #ttg.amd_wmma<{{version = {version}, isTranspose = false, \
             ctaLayout = {{warp = [[0, 1], [1, 0]]}}, instrShape = [16, 16, 16]}}>, kWidth = {k_width}}}>"
        )
    };
    let width = if version == 1 { 16 } else { 8 };
    vec![
        Case::new("blocked to wmma operand a", Path::Shared, 16, &[128, 64], rows(8), operand(0, width)),
        Case::new("blocked to wmma operand b", Path::Shared, 16, &[128, 64], rows(8), operand(1, width)),
        Case::new("bytes to wmma operand a", Path::Shared, 8, &[128, 64], rows(8), operand(0, width)),
        Case::new("words across warps", Path::Shared, 32, &[64, 64], rows(4), columns(4)),
        Case::new("64-bit elements across warps", Path::Shared, 64, &[64, 64], rows(2), columns(2)),
        Case::new("a source that warps replicate", Path::Shared, 16, &[16, 64], rows(8), columns(1)),
        Case::new("lanes permuted", Path::Shuffle, 32, &[16, 8], wide([1, 0]), wide([0, 1])),
        Case::new("lanes permuted, bytes packed", Path::Shuffle, 8, &[8, 16], single([1, 0]), single([0, 1])),
        Case::new("nothing to do", Path::None, 16, &[128, 64], rows(8), rows(8)),
    ]
}

fn long(warps: [u64; 2]) -> String {
    let threads = if warps[1] == 1 { [4, 16] } else { [8, 8] };
    blocked(&[1, 4], &threads, &warps, &[1, 0])
}

#[test]
fn the_assembly_moves_what_the_plan_says() {
    for product in CDNA {
        moves_what_the_plan_says(&target(product), cases());
    }
    for (file, text, version) in RDNA {
        moves_what_the_plan_says(&target((file, text)), cases_of_32_lanes(version));
    }
}

fn moves_what_the_plan_says(target: &AmdTarget, cases: Vec<Case>) {
    for case in cases {
        let planned = case.planned(target);
        let artifact = planned.compiled(target, &[Emit::Assembly]);
        let code = artifact.text(Emit::Assembly).unwrap();
        let found = assembly::movement(code, "convert");
        assert!(planned.is_done_by(found), "{}: {found:?}, planned {:?}: {code}", case.name, planned.movement());
        assembly::goes_straight(code, planned.replicated);
        if target.description().architecture.starts_with("gfx9") {
            case.is_shown(&assembly::instructions(code, "convert"));
        }
        assembly::spills_nothing(case.name, code);
    }
}

#[test]
fn rounds_in_which_lanes_differ_alike_move_within_rows() {
    let target = target(CDNA[0]);
    // The lowest bit of the registers for the lowest of the lanes.
    let src = blocked(&[2, 1], &[1, 64], &[1, 1], &[0, 1]);
    let dst = blocked(&[1, 2], &[2, 32], &[1, 1], &[0, 1]);
    let case = Case::new("one bit for another", Path::Shuffle, 32, &[2, 64], src, dst);
    let artifact = case.planned(&target).compiled(&target, &[Emit::Assembly]);
    let code = artifact.text(Emit::Assembly).unwrap();
    assert!(code.contains("quad_perm:[1,0,3,2]") && !code.contains("ds_bpermute_b32"), "{code}");
}

#[test]
fn twenty_conversions_and_every_path_are_looked_at() {
    let cases = cases();
    assert!(cases.len() >= 20);
    for path in [Path::None, Path::Register, Path::Shuffle, Path::Shared] {
        assert!(cases.iter().any(|case| case.path == path), "{path}");
    }
    for bits in [8, 16, 32, 64] {
        assert!(cases.iter().any(|case| case.bits == bits), "{bits}");
    }
}

/// The figures of the two conversions that matter most, by hand. 128x64 elements of 16 bits over
/// 256 lanes are 32 elements a lane: 512 bits stored. Warps lie two by two, so each operand is
/// wanted by two warps each: twice as much is loaded.
#[test]
fn operands_of_mfma_are_stored_once_and_loaded_by_all_that_want_them() {
    for index in [0, 1] {
        let case = &cases()[index];
        let planned = case.planned(&mi250());
        let artifact = planned.compiled(&mi250(), &[Emit::Assembly]);
        let found = assembly::movement(artifact.text(Emit::Assembly).unwrap(), "convert");
        assert_eq!((found.stored_bits, found.loaded_bits, found.exchanges), (512, 1024, 0), "{}", case.name);
        assert_eq!(planned.plan.figures.shared_bytes, 128 * 64 * 2);
    }
}

#[test]
fn the_cases_are_what_they_are_for() {
    let target = mi250();
    let of = |name: &str| cases().iter().find(|case| case.name == name).unwrap().planned(&target);
    assert!(of("16 warps, more than is at hand at once").plan.figures.counts.barriers > 1, "several rounds");
    assert!(of("a source that warps replicate").replicated);
    let left_out = of("a source whose copies nobody can share out");
    assert!(left_out.replicated);
    assert_eq!(left_out.kernel.to_string().matches(" if ").count(), 1, "a predicated store: {}", left_out.kernel);
    let packed = of("lanes permuted, bytes packed").plan.figures.counts.exchanges;
    let split = of("lanes permuted, 64-bit elements").plan.figures.counts.exchanges;
    assert_eq!((packed, split), (1, 2), "4 bytes a lane in one exchange; 8 bytes a lane in two");
    let gathered = of("bytes of one warp, gathered and scattered").plan.figures.counts;
    assert!(gathered.permutes > 0, "{gathered:?}");
    // LLVM would drop the block barrier of a block of one warp; plans ask for none there.
    assert_eq!(of("bytes of one warp").movement().block_barriers, 0);
}
