//! Layouts of the document "Triton Bespoke Layouts": the result of one 16x16x16 matrix instruction, plain and
//! transposed, and the operands of a 64x64x64 dot with eight adjacent elements of K.

use tilewright_amd_tables::families::AmdFamilies;
use tilewright_vendor_testkit::prelude::*;

fn layout(text: &str, shape: [u64; 2]) -> LinearLayout {
    let vendor_families = AmdFamilies::for_architecture("gfx942");
    let spec = parse_family_spec(text).expect("text");
    let families = FamilyProviders::new(vec![&NeutralFamilies, &vendor_families]);
    families.layout(&spec, &shape).expect("a layout").linear().clone()
}

fn element(layout: &LinearLayout, register: u64, lane: u64, warp: u64) -> (u64, u64) {
    let coordinates =
        layout.apply(&[(Dim::REGISTER, register), (Dim::LANE, lane), (Dim::WARP, warp)]).expect("in range");
    (coordinates[0].1, coordinates[1].1)
}

fn mfma(transposed: bool, warps: [u64; 2]) -> String {
    format!(
        "#ttg.amd_mfma<{{version = 3, warpsPerCTA = {warps:?}, instrShape = [16, 16, 16], isTransposed = {transposed}}}>"
    )
}

/// Checks the result of one instruction: a lane holds four adjacent rows; lanes are along N and then along M.
#[test]
fn a_16x16x16_result() {
    let plain = layout(&mfma(false, [1, 1]), [16, 16]);
    for (lane, register) in (0..64).flat_map(|lane| (0..4).map(move |register| (lane, register))) {
        assert_eq!(element(&plain, register, lane, 0), (4 * (lane / 16) + register, lane % 16));
    }
}

/// Checks the result of the transposed instruction: a lane holds four adjacent columns.
#[test]
fn a_transposed_16x16x16_result() {
    let transposed = layout(&mfma(true, [1, 1]), [16, 16]);
    for (lane, register) in (0..64).flat_map(|lane| (0..4).map(move |register| (lane, register))) {
        assert_eq!(element(&transposed, register, lane, 0), (lane % 16, 4 * (lane / 16) + register));
    }
}

fn operand(index: u64) -> LinearLayout {
    let parent = mfma(false, [2, 4]);
    layout(&format!("#ttg.dot_op<{{opIdx = {index}, parent = {parent}, kWidth = 8}}>"), [64, 64])
}

/// Returns all combinations of register (`registers` of them, 32 or 16), lane (64) and warp (2x4).
fn positions(registers: u64) -> impl Iterator<Item = (u64, u64, u64)> {
    (0..registers).flat_map(|register| (0..64).flat_map(move |lane| (0..8).map(move |warp| (register, lane, warp))))
}

/// Checks the result of a 64x64x64 dot: two warps along the rows and four along the columns, repeated down the rows.
#[test]
fn the_result_of_a_64x64x64_dot() {
    let c = layout(&mfma(false, [2, 4]), [64, 64]);
    for (register, lane, warp) in positions(8) {
        let row = register % 4 + 4 * (lane / 16) + 16 * (warp / 4) + 32 * (register / 4);
        assert_eq!(element(&c, register, lane, warp), (row, lane % 16 + 16 * (warp % 4)));
    }
}

/// Checks operand A, M by K: the eight adjacent elements along K in a lane serve two instructions; warps in one row of
/// the warp grid hold replicas of A.
#[test]
fn the_left_operand_with_k_width_8() {
    let a = operand(0);
    for (register, lane, warp) in positions(32) {
        let row = lane % 16 + 16 * (warp / 4) + 32 * (register / 16);
        let k = register % 8 + 8 * (lane / 16) + 32 * (register / 8 % 2);
        assert_eq!(element(&a, register, lane, warp), (row, k));
    }
}

/// Checks operand B, K by N: warps in one column of the warp grid hold replicas of B.
#[test]
fn the_right_operand_with_k_width_8() {
    let b = operand(1);
    for (register, lane, warp) in positions(16) {
        let k = register % 8 + 8 * (lane / 16) + 32 * (register / 8);
        assert_eq!(element(&b, register, lane, warp), (k, lane % 16 + 16 * (warp % 4)));
    }
}
