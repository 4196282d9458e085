//! Layout assignment of real programs on this vendor's targets: every tensor has a layout, operations have valid
//! operands, semantics are unchanged, and no more conversions are left than in Triton.

use crate::prelude::*;
use tilewright_vendor_testkit::assigned::on_target::{every_program_has_layouts, named_layouts_stay};

/// The targets of this test, with Triton's names for them; `None` if Triton's output for the target is not compared.
const TARGETS: [(&str, Option<&str>); 3] = [("h100", Some("cuda:90")), ("a100", Some("cuda:80")), ("rtx4090", None)];

pub fn every_real_program_has_layouts() {
    TARGETS.iter().for_each(|(name, triton)| every_program_has_layouts(&target(name), *triton));
}

pub fn layouts_that_real_programs_say_stay() {
    named_layouts_stay(
        &target(TARGETS[0].0),
        (&tilewright_dialects::all_dialects(), &tilewright_dialects::read_import_tables()),
        &[".cuda90.ttgir", ".cuda80.ttgir"],
    );
}
