//! Layouts of real programs on targets of this vendor: every tensor has one, operations have what they need, the program means the
//! same, and no more conversions are left than Triton leaves.
#![allow(clippy::unwrap_used)]

#[path = "../../../framework/tests/assigned/mod.rs"]
mod assigned;

use assigned::{assigned, programs, stay};
use tilewright::engine::Machine;
use tilewright::layout::FamilySet;
use tilewright::layout::families::Neutral;
use tilewright::movement::Means;
use tilewright::target::TargetDescription;
use tilewright::vendor::Target;
use tilewright_nvidia::NvidiaTarget;

/// Targets, and what Triton calls theirs.
const TARGETS: [(&str, &str, Option<&str>); 3] = [
    ("h100", include_str!("../../../targets/h100.toml"), Some("cuda:90")),
    ("a100", include_str!("../../../targets/a100.toml"), Some("cuda:80")),
    ("rtx4090", include_str!("../../../targets/rtx4090.toml"), None),
];

fn target(name: &str, text: &str) -> NvidiaTarget {
    NvidiaTarget::new(TargetDescription::from_toml(name, text).unwrap()).unwrap()
}

/// Of the full data; nothing without it.
#[test]
fn every_real_program_has_layouts() {
    for (name, text, triton) in TARGETS {
        let target = target(name, text);
        let families = FamilySet::new(vec![&Neutral, target.families()]);
        let description = target.description();
        let means = Means::of(description).with_instructions(target.instructions());
        for program in programs() {
            let machine =
                Machine { means, families: &families, lanes: description.lanes.default, warps: program.warps };
            let made = assigned(&program, &machine).unwrap_or_else(|error| panic!("{name}, {}: {error}", program.name));
            let left = made.report.costly().count() as u64;
            if let Some(theirs) = triton.and_then(|triton| program.of_triton(triton)) {
                assert!(left <= theirs, "{name}, {}: {left} conversions, and Triton leaves {theirs}", program.name);
            }
        }
    }
}

/// Programs whose layouts Triton has chosen keep them.
#[test]
fn layouts_that_real_programs_say_stay() {
    let (name, text, _) = TARGETS[0];
    let target = target(name, text);
    let families = FamilySet::new(vec![&Neutral, target.families()]);
    let means = Means::of(target.description()).with_instructions(target.instructions());
    stay(means, &families, &tilewright_dialects::all(), &[".cuda90.ttgir", ".cuda80.ttgir"]);
}
