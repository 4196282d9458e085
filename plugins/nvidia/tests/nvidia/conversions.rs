//! The PTX of conversions: a lane's shared-memory stores and loads, shuffles and barriers are those of the plan, and
//! nothing uses local memory.

use crate::prelude::*;
use tilewright_plan::movement::ConversionKind;
use tilewright_vendor_testkit::conversions::{self, Case};
use tilewright_vendor_testkit::layouts::format_blocked_layout;

use crate::layouts::{dot_operand, mma};
use crate::ptx::READER;

pub fn cases() -> Vec<Case> {
    // The result of `mma.sync`, for four warps along its rows.
    let result = mma(2, &[4, 1], &[16, 8]);
    let mma_operand = |index, k_width| dot_operand(index, &result, k_width);
    let rows = |size: u64| format_blocked_layout(&[1, size], &[4, 8], &[4, 1], &[1, 0]);
    let columns = |size: u64| format_blocked_layout(&[size, 1], &[8, 4], &[1, 4], &[0, 1]);
    let single = |size: [u64; 2]| format_blocked_layout(&size, &[4, 8], &[1, 1], &[1, 0]);
    let shown = |case: Case| match case.name {
        "single bytes" => case.showing(&["st.shared.b8", "ld.shared"]),
        "single elements of 16 bits" => case.showing(&["st.shared.b16", "ld.shared"]),
        "pairs of words" => case.showing(&["st.shared.v2.b32", "ld.shared.v2.b32"]),
        _ => case,
    };
    let own = [
        Case::new("bytes to mma operand a", ConversionKind::Shared, 8, &[128, 64], rows(16), mma_operand(0, 4)),
        Case::new("words of one warp", ConversionKind::Shared, 32, &[16, 32], single([1, 4]), single([4, 1])),
        // Non-transposed matrices take as many wavefronts as plain accesses of a swizzled layout, so the plan uses
        // plain accesses.
        Case::new(
            "columns of rows, read as transposed matrices",
            ConversionKind::Shared,
            16,
            &[64, 64],
            rows(8),
            columns(8),
        )
        .by_tiles()
        .showing(&["st.shared.v4.b32", "ldmatrix.sync.aligned.m8n8.x4.trans"]),
        Case::new(
            "columns of rows, stored as transposed matrices",
            ConversionKind::Shared,
            16,
            &[32, 32],
            rows(4),
            columns(8),
        )
        .by_tiles()
        .showing(&["stmatrix.sync.aligned.m8n8.x4.trans", "ld.shared.v4.b32"]),
        Case::new(
            "copies spread, then read as matrices",
            ConversionKind::Shared,
            16,
            &[16, 16],
            rows(8),
            mma_operand(1, 2),
        )
        .by_tiles()
        .showing(&["st.shared.b32", "ldmatrix.sync.aligned.m8n8.x4.trans"]),
        Case::new(
            "results of a product, stored as one matrix",
            ConversionKind::Shared,
            16,
            &[16, 16],
            result.clone(),
            columns(2),
        )
        .by_tiles()
        .showing(&["stmatrix.sync.aligned.m8n8.x1.trans"]),
    ];
    let operands = [0, 1].map(|index| mma_operand(index, 2));
    conversions::cases(32, operands).into_iter().map(shown).chain(own).collect()
}

#[test]
fn the_ptx_matches_the_plan() {
    conversions::code_moves_what_the_plans_say(&target("h100"), &cases(), &READER);
}

/// Compares counts with a calculation by hand: 128x64 elements of 16 bits over 128 lanes are 64 elements a lane, so
/// 1024 bits are stored. Operand A holds each element once; each of the four warps along the rows needs all of operand
/// B.
#[test]
fn operands_of_mma_are_stored_once_and_loaded_by_every_user() {
    conversions::check_operand_conversion_bits(&target("h100"), &cases(), &READER, 1024, [1024, 4096]);
}

#[test]
fn the_cases_are_what_they_are_for() {
    let (target, cases) = (target("h100"), cases());
    conversions::are_what_they_are_for(&target, &cases);
    assert_eq!(conversions::named(&cases, "words of one warp").planned(&target).movement().block_barriers, 0);
}
