//! The assembly of conversions: shared-memory stores and loads of a lane, shuffles and barriers are those of the plan,
//! and nothing is spilled to scratch memory.

use tilewright_plan::movement::ConversionKind;
use tilewright_vendor_testkit::conversions::{self, Case};
use tilewright_vendor_testkit::layouts::format_blocked_layout;
use tilewright_vendor_testkit::prelude::*;

use crate::assembly::READER;
use crate::targets::target;

/// Returns the operand A (`index` 0) or B of `v_mfma_f32_32x32x8` or of its 8-bit variant, for two by two warps.
fn mfma_operand(index: u32) -> String {
    format!(
        "#ttg.dot_op<{{opIdx = {index}, parent = #ttg.amd_mfma<{{version = 2, warpsPerCTA = [2, 2], \
         instrShape = [32, 32, 8], isTransposed = false}}>, kWidth = 4}}>"
    )
}

fn cases() -> Vec<Case> {
    let rows = |size: u64| format_blocked_layout(&[1, size], &[8, 8], &[4, 1], &[1, 0]);
    let columns = |size: u64| format_blocked_layout(&[size, 1], &[8, 8], &[1, 4], &[0, 1]);
    let single = |size: [u64; 2]| format_blocked_layout(&size, &[8, 8], &[1, 1], &[1, 0]);
    let cube = |size: [u64; 3], threads: [u64; 3], warps: [u64; 3], order: [u64; 3]| {
        format_blocked_layout(&size, &threads, &warps, &order)
    };
    let src = cube([1, 1, 4], [1, 8, 8], [4, 1, 1], [2, 1, 0]);
    let dst = cube([1, 4, 1], [4, 4, 4], [1, 1, 4], [1, 2, 0]);
    let shown = |case: Case| match case.name {
        "single bytes" => case.showing(&["ds_write_b8"]),
        "single elements of 16 bits" => case.showing(&["ds_write_b16"]),
        "pairs of words" => case.showing(&["ds_write_b64", "ds_read_b64"]),
        _ => case,
    };
    let (one, other) = (|| single([1, 4]), || single([4, 1]));
    let own = [
        Case::new("bytes to mfma operand a", ConversionKind::Shared, 8, &[128, 64], rows(8), mfma_operand(0)),
        Case::new("bytes of one warp", ConversionKind::Shared, 8, &[32, 32], one(), other()),
        Case::new("bytes of one warp, gathered and scattered", ConversionKind::Shuffle, 8, &[32, 32], one(), other()),
        Case::new(
            "operand a of what lies in columns",
            ConversionKind::Shared,
            16,
            &[128, 64],
            columns(8),
            mfma_operand(0),
        ),
        Case::new("two axes of three change places", ConversionKind::Shared, 16, &[8, 16, 32], src, dst),
    ];
    conversions::cases(64, [0, 1].map(mfma_operand)).into_iter().map(shown).chain(own).collect()
}

/// Returns the cases for warps of 32 lanes with operands of `v_wmma_f32_16x16x16` or of its 8-bit variant.
fn cases_of_32_lanes(version: u32) -> Vec<Case> {
    let width = if version == 1 { 16 } else { 8 };
    let operand = |index: u32| {
        format!(
            "#ttg.dot_op<{{opIdx = {index}, parent = #ttg.amd_wmma<{{version = {version}, isTranspose = false, \
             ctaLayout = {{warp = [[0, 1], [1, 0]]}}, instrShape = [16, 16, 16]}}>, kWidth = {width}}}>"
        )
    };
    let rows = format_blocked_layout(&[1, 8], &[8, 4], &[4, 1], &[1, 0]);
    let bytes = Case::new("bytes to wmma operand a", ConversionKind::Shared, 8, &[128, 64], rows, operand(0));
    conversions::cases(32, [0, 1].map(operand)).into_iter().chain([bytes]).collect()
}

#[test]
fn the_assembly_matches_the_plan() {
    for name in ["mi100", "mi250", "mi300x", "mi355x"] {
        conversions::code_moves_what_the_plans_say(&target(name), &cases(), &READER);
    }
    // Each target with the version of its matrix instructions.
    for (name, version) in [("rx7900xtx", 1), ("rx9070xt", 2)] {
        conversions::code_moves_what_the_plans_say(&target(name), &cases_of_32_lanes(version), &READER);
    }
}

#[test]
fn rounds_in_which_lanes_differ_alike_move_within_rows() {
    let target = target("mi100");
    // Exchanges the lowest register bit for the lowest lane bit.
    let src = format_blocked_layout(&[2, 1], &[1, 64], &[1, 1], &[0, 1]);
    let dst = format_blocked_layout(&[1, 2], &[2, 32], &[1, 1], &[0, 1]);
    let case = Case::new("one bit for another", ConversionKind::Shuffle, 32, &[2, 64], src, dst);
    let code = assembly(&target, vec![case.planned(&target).kernel]);
    assert!(code.contains("quad_perm:[1,0,3,2]") && !code.contains("ds_bpermute_b32"), "{code}");
}

/// Checks the exchange of a register bit for lane bits 2 and 3: each of the two words moves by one DPP move, in the two
/// banks (of four lanes) of a row that need it. Lanes of CDNA read across bit 2 by shifts of the row: a lane with the bit
/// reads four lanes below.
#[test]
fn lane_bits_2_and_3_swap_by_moves_of_banks() {
    let linear = |registers: &str, lanes: &str| {
        format!("#ttg.linear<{{register = {registers}, lane = {lanes}, warp = [], block = []}}>")
    };
    let cdna = [["row_shr:4", "row_shl:4"], ["row_ror:8"; 2]];
    let rdna = [["row_xmask:4"; 2], ["row_xmask:8"; 2]];
    let targets = [("mi100", cdna), ("mi250", cdna), ("mi300x", cdna), ("mi355x", cdna), ("rx7900xtx", rdna)];
    for (name, controls) in targets {
        let target = target(name);
        let lanes: Vec<u32> = (0..target.description().lanes.default.ilog2()).map(|bit| 1 << bit).collect();
        for (bit, controls, banks) in [(4, controls[0], ["0xa", "0x5"]), (8, controls[1], ["0xc", "0x3"])] {
            let across = |bit_image: &str| {
                let image = |&lane: &u32| if lane == bit { bit_image.to_owned() } else { format!("[0, {lane}]") };
                format!("[{}]", lanes.iter().map(image).collect::<Vec<_>>().join(", "))
            };
            let src = linear("[[1, 0]]", &across(&format!("[0, {bit}]")));
            let dst = linear(&format!("[[0, {bit}]]"), &across("[1, 0]"));
            let shape = [2, u64::from(target.description().lanes.default)];
            let case = Case::new("a bit for a lane bit", ConversionKind::Shuffle, 32, &shape, src, dst);
            let planned = case.planned(&target);
            let counts = planned.plan.stats.counts;
            assert_eq!((counts.shuffles, counts.swaps, counts.selects), (1, 1, 0), "{name}");
            let code = assembly(&target, vec![planned.kernel]);
            let count =
                |at: usize| code.matches(&format!("{} row_mask:0xf bank_mask:{}", controls[at], banks[at])).count();
            assert_eq!(([count(0), count(1)], code.contains("v_cndmask")), ([1, 1], false), "{name} {bit}: {code}");
        }
    }
}

/// By hand: 128x64 elements of 16 bits over 256 lanes are 32 elements per lane: 512 bits stored. Warps form a 2 x 2
/// grid, so two warps load each operand: twice as much is loaded.
#[test]
fn operands_of_mfma_are_stored_once_and_loaded_by_every_user() {
    conversions::check_operand_conversion_bits(&target("mi250"), &cases(), &READER, 512, [1024, 1024]);
}

#[test]
fn the_cases_are_what_they_are_for() {
    let (target, cases) = (target("mi250"), cases());
    conversions::are_what_they_are_for(&target, &cases);
    let of = |name: &str| conversions::named(&cases, name).planned(&target);
    let gathered = of("bytes of one warp, gathered and scattered").plan.stats.counts;
    assert!(gathered.permutes > 0, "{gathered:?}");
    // LLVM would drop the block barrier of a block of one warp; plans have none there.
    assert_eq!(of("bytes of one warp").movement().block_barriers, 0);
}
