//! Layouts of real programs on targets of this vendor: every tensor has one, operations have what they need, the program means the
//! same, and no more conversions are left than Triton leaves.
#![allow(clippy::unwrap_used)]

use tilewright_vendor_testkit::assigned;

use assigned::on_target::{every_program_has_layouts, named_layouts_stay};
use tilewright_amd::AmdTarget;
use tilewright_target::TargetDescription;

/// Targets, and what Triton calls theirs.
const TARGETS: [(&str, &str, Option<&str>); 2] = [
    ("mi300x", include_str!("../../../../targets/mi300x.toml"), Some("hip:gfx942")),
    ("mi250", include_str!("../../../../targets/mi250.toml"), Some("hip:gfx90a")),
];

fn target(name: &str, text: &str) -> AmdTarget {
    AmdTarget::new(TargetDescription::from_toml(name, text).unwrap()).unwrap()
}

pub fn every_real_program_has_layouts() {
    TARGETS.iter().for_each(|(name, text, triton)| every_program_has_layouts(&target(name, text), *triton));
}

pub fn layouts_that_real_programs_say_stay() {
    let (name, text, _) = TARGETS[0];
    named_layouts_stay(
        &target(name, text),
        (&tilewright_dialects::all(), &tilewright_dialects::imports()),
        &[".gfx942.ttgir"],
    );
}
