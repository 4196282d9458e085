//! There are no clusters of blocks here: kernels that ask for them are refused with the reason.
#![allow(clippy::unwrap_used)]

use crate::validated_target::ValidatedTarget;
use tilewright_vendor_testkit::clusters;

use tilewright_target::TargetDescription;

#[test]
fn what_only_clusters_have_is_unsupported() {
    let text = include_str!("../../../../targets/b580.toml");
    let target = ValidatedTarget::new(TargetDescription::from_toml("b580.toml", text).unwrap()).unwrap();
    clusters::are_refused(
        &target,
        [
            "clusters of 2 blocks; the target has at most 1",
            "barriers of clusters",
            "blocks of clusters",
            "cluster_address",
        ],
    );
}
