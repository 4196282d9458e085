//! Explicit-memory programs on an Intel GPU, executed on the emulator.

use crate::validated_target::target;
use tilewright_vendor_testkit::explicit::{check_mamba, check_parts, check_shared_by_loops, check_two_kinds};

#[test]
fn loops_share_tensors_and_programs_name_parts() {
    check_shared_by_loops(&target("max1550"));
    check_parts(&target("max1550"));
    check_two_kinds(&target("max1550"));
    check_mamba(&target("max1550"));
}
