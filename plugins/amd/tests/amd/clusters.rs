//! AMD targets have no clusters of blocks: kernels with clusters are rejected with the reason.
#![allow(clippy::unwrap_used)]

use crate::targets::target;
use tilewright_vendor_testkit::clusters;

#[test]
fn what_only_clusters_have_is_unsupported() {
    let target = target("mi300x");
    clusters::are_refused(
        &target,
        ["clusters of 2 blocks; mi300x has at most 1", "no clusters", "no clusters", "no clusters"],
    );
}
