//! Layout assignment of real programs on targets of this vendor: every tensor has a layout, operations have their
//! required layouts, the program computes the same, and no more conversions remain than in Triton's output.
#![allow(clippy::unwrap_used)]

use crate::targets::target;
use tilewright_amd::AmdTarget;
use tilewright_vendor_testkit::assigned::on_target::{every_program_has_layouts, named_layouts_stay};
use tilewright_vendor_testkit::prelude::*;

/// The targets of this test, with Triton's names for them; `None` if Triton's output for the target is not compared.
const TARGETS: [(&str, Option<&str>); 2] = [("mi300x", Some("hip:gfx942")), ("mi250", Some("hip:gfx90a"))];

pub fn every_real_program_has_layouts() {
    TARGETS.iter().for_each(|(name, triton)| every_program_has_layouts(&target(name), *triton));
}

pub fn layouts_that_real_programs_say_stay() {
    named_layouts_stay(
        &target(TARGETS[0].0),
        (&tilewright_dialects::all_dialects(), &tilewright_dialects::read_import_tables()),
        &[".gfx942.ttgir"],
    );
}
