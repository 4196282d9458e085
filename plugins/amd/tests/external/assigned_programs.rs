//! Layouts of real programs on targets of this vendor: every tensor has one, operations have what they need, the program means the
//! same, and no more conversions are left than Triton leaves.
#![allow(clippy::unwrap_used)]

use crate::targets::target;
use tilewright_amd::AmdTarget;
use tilewright_vendor_testkit::assigned::on_target::{every_program_has_layouts, named_layouts_stay};
use tilewright_vendor_testkit::prelude::*;

/// Targets, and what Triton calls theirs.
const TARGETS: [(&str, Option<&str>); 2] = [("mi300x", Some("hip:gfx942")), ("mi250", Some("hip:gfx90a"))];

pub fn every_real_program_has_layouts() {
    TARGETS.iter().for_each(|(name, triton)| every_program_has_layouts(&target(name), *triton));
}

pub fn layouts_that_real_programs_say_stay() {
    named_layouts_stay(
        &target(TARGETS[0].0),
        (&tilewright_dialects::all(), &tilewright_dialects::imports()),
        &[".gfx942.ttgir"],
    );
}
