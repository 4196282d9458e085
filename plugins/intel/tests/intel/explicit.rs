//! Explicit-memory programs on an Intel GPU, executed on the emulator.

use crate::validated_target::target;
use tilewright_vendor_testkit::explicit::pinned::compare_pinned;
use tilewright_vendor_testkit::explicit::{
    check_loops_filling_one_tensor, check_mamba, check_paper_kernels, check_tile_slice_programs, check_two_kinds,
};

#[test]
fn loops_share_tensors_and_programs_name_parts() {
    check_loops_filling_one_tensor(&target("max1550"));
    check_tile_slice_programs(&target("max1550"));
    check_two_kinds(&target("max1550"));
    check_mamba(&target("max1550"));
}

#[test]
fn kernels_of_the_paper_are_right() {
    check_paper_kernels("paper-intel", 0, &[("max1550", &target("max1550"), 16)]);
}

/// Checks instructions, warps, stages and layout conversions before stores: `TILEWRIGHT_ALL_CASES` compares all
/// programs.
#[test]
fn no_pinned_alternative_is_predicted_to_be_faster() {
    let (compared, faster) = compare_pinned(&target("max1550"));
    assert!(compared >= 12, "{compared} comparisons");
    assert!(faster.is_empty(), "{}", faster.join("\n"));
}
