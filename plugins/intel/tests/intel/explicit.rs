//! Explicit-memory programs on an Intel GPU, executed on the emulator.

use crate::validated_target::target;
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
