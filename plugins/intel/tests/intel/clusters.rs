//! Targets without clusters: kernels that need them are rejected with the reason.
#![allow(clippy::unwrap_used)]

use crate::validated_target::target;
use tilewright_vendor_testkit::clusters;

#[test]
fn what_only_clusters_have_is_unsupported() {
    let target = target("b580");
    clusters::are_refused(
        &target,
        ["clusters of 2 blocks; b580 has at most 1", "barriers of clusters", "blocks of clusters", "cluster_address"],
    );
}
