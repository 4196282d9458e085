//! Compares barriers and bytes of shared memory with Triton's.

use crate::targets::target;
use tilewright_vendor_testkit::shared_counts::{COMMITTED_SETS, REAL_SETS, take_no_more_than_triton};

#[test]
fn texts_take_no_more_than_triton() {
    check(&COMMITTED_SETS, 20);
}

/// Checks real programs, which are data outside of the repository.
#[allow(dead_code, reason = "tests that need the shared data call it")]
pub fn real_programs_take_no_more_than_triton() {
    check(&REAL_SETS, 200);
}

fn check(sets: &[&str], least: usize) {
    let served = ["mi250", "mi300x", "mi355x", "rx9070xt", "rx7900xtx"];
    let count = take_no_more_than_triton(sets, |name| served.contains(&name).then(|| target(name)));
    assert!(count >= least, "{count} texts");
}
