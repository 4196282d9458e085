//! There are no clusters of blocks here: kernels that ask for them are refused with the reason.
#![allow(clippy::unwrap_used)]

use tilewright_vendor_testkit::clusters;

use tilewright_amd::AmdTarget;
use tilewright_target::TargetDescription;

#[test]
fn what_only_clusters_have_is_unsupported() {
    let text = include_str!("../../../../targets/mi300x.toml");
    let target = AmdTarget::new(TargetDescription::from_toml("mi300x.toml", text).unwrap()).unwrap();
    clusters::are_refused(
        &target,
        ["clusters of 2 blocks; mi300x has at most 1", "no clusters", "no clusters", "no clusters"],
    );
}
