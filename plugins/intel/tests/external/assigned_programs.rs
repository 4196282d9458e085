//! Layouts of real programs on targets of this vendor: every tensor has one, operations have what they need, the program means the
//! same, and no more conversions are left than Triton leaves.
#![allow(clippy::unwrap_used)]

use crate::validated_target::{ValidatedTarget, target};
use tilewright_vendor_testkit::assigned::on_target::every_program_has_layouts;
use tilewright_vendor_testkit::prelude::*;

/// Targets, and what Triton calls theirs.
const TARGETS: [(&str, Option<&str>); 1] = [("max1550", None)];

pub fn every_real_program_has_layouts() {
    TARGETS.iter().for_each(|(name, triton)| every_program_has_layouts(&target(name), *triton));
}
