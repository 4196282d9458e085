//! Compares barriers and bytes of shared memory with Triton's.

use crate::prelude::*;
use tilewright_vendor_testkit::shared_counts::{COMMITTED_SETS, REAL_SETS, take_no_more_than_triton};

#[test]
fn texts_take_no_more_than_triton() {
    check(&COMMITTED_SETS, 120);
}

/// Checks real programs, which are data outside of the repository.
#[allow(dead_code, reason = "tests that need the shared data call it")]
pub fn real_programs_take_no_more_than_triton() {
    check(&REAL_SETS, 400);
}

fn check(sets: &[&str], least: usize) {
    let served = ["a100", "h100", "b200", "rtx5090"];
    let count = take_no_more_than_triton(sets, |name| served.contains(&name).then(|| target(name)));
    assert!(count >= least, "{count} texts");
}
