//! Layouts of real programs on targets of this vendor: every tensor has one, operations have what they need, the program means the
//! same, and no more conversions are left than Triton leaves.
#![allow(clippy::unwrap_used)]

use tilewright_nvidia::NvidiaTarget;
use tilewright_target::TargetDescription;
use tilewright_vendor_testkit::assigned::on_target::{every_program_has_layouts, named_layouts_stay};

/// Targets, and what Triton calls theirs.
const TARGETS: [(&str, &str, Option<&str>); 3] = [
    ("h100", include_str!("../../../../targets/h100.toml"), Some("cuda:90")),
    ("a100", include_str!("../../../../targets/a100.toml"), Some("cuda:80")),
    ("rtx4090", include_str!("../../../../targets/rtx4090.toml"), None),
];

fn target(name: &str, text: &str) -> NvidiaTarget {
    NvidiaTarget::new(TargetDescription::from_toml(name, text).unwrap()).unwrap()
}

pub fn every_real_program_has_layouts() {
    TARGETS.iter().for_each(|(name, text, triton)| every_program_has_layouts(&target(name, text), *triton));
}

pub fn layouts_that_real_programs_say_stay() {
    let (name, text, _) = TARGETS[0];
    named_layouts_stay(
        &target(name, text),
        (&tilewright_dialects::all(), &tilewright_dialects::imports()),
        &[".cuda90.ttgir", ".cuda80.ttgir"],
    );
}
