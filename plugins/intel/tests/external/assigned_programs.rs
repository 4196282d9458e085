//! Layouts of real programs on targets of this vendor: every tensor has one, operations have what they need, the program means the
//! same, and no more conversions are left than Triton leaves.
#![allow(clippy::unwrap_used)]

use crate::validated_target::ValidatedTarget;
use tilewright_vendor_testkit::assigned;

use assigned::on_target::every_program_has_layouts;
use tilewright_target::TargetDescription;

/// Targets, and what Triton calls theirs.
const TARGETS: [(&str, &str, Option<&str>); 1] = [("max1550", include_str!("../../../../targets/max1550.toml"), None)];

fn target(name: &str, text: &str) -> ValidatedTarget {
    ValidatedTarget::new(TargetDescription::from_toml(name, text).unwrap()).unwrap()
}

pub fn every_real_program_has_layouts() {
    TARGETS.iter().for_each(|(name, text, triton)| every_program_has_layouts(&target(name, text), *triton));
}
