//! Layout assignment of real programs on targets of this vendor: every tensor has a layout, operations have the
//! operands that they need, the program computes the same, and no more conversions remain than in Triton's output.
#![allow(clippy::unwrap_used)]

use crate::validated_target::{ValidatedTarget, target};
use tilewright_vendor_testkit::assigned::on_target::every_program_has_layouts;
use tilewright_vendor_testkit::prelude::*;

/// The targets of this test, with Triton's names for them; `None` if Triton's output for the target is not compared.
const TARGETS: [(&str, Option<&str>); 1] = [("max1550", None)];

pub fn every_real_program_has_layouts() {
    TARGETS.iter().for_each(|(name, triton)| every_program_has_layouts(&target(name), *triton));
}
