//! Explicit-memory programs on an Intel GPU, executed on the emulator.

use crate::validated_target::target;
use tilewright_vendor_testkit::explicit::check_shared_by_loops;

#[test]
fn several_loops_fill_one_tensor() {
    check_shared_by_loops(&target("max1550"));
}
