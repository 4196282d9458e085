//! The programs of the full data on the targets of a vendor.

use super::{assigned, programs, stay};
use crate::prelude::*;
use tilewright_assign::EngineError;
use tilewright_assign::Strategy;
use tilewright_tile::import::Imports;
use tilewright_tile::op::Dialects;

/// Every program gets layouts, and where Triton compiles for the target too (`triton` is what it calls it), no more
/// conversions that cost anything are left than it leaves. One may have a product that is beyond the target's registers.
pub fn every_program_has_layouts(target: &dyn Target, triton: Option<&str>) {
    let families = FamilySet::new(vec![&Neutral, target.families()]);
    let description = target.description();
    let context = PlanContext::of(description).with_instructions(target.instructions());
    let mut beyond = Vec::new();
    for program in programs() {
        let machine =
            LaunchConfig { context, families: &families, lanes: description.lanes.default, warps: program.warps };
        let told = format!("{}, {}", description.name, program.name);
        if let Err(EngineError::Product { .. }) = assign(&program.module, &machine, Strategy::Propagation) {
            beyond.push(program.name);
            continue;
        }
        let made = assigned(&program, &machine).unwrap_or_else(|error| panic!("{told}: {error}"));
        let left = made.report.costly().count() as u64;
        if let Some(theirs) = triton.and_then(|triton| program.of_triton(triton)) {
            assert!(left <= theirs, "{told}: {left} conversions, and Triton leaves {theirs}");
        }
    }
    assert!(beyond.len() <= 1, "{}: no way to multiply in {beyond:?}", description.name);
}

/// Programs whose layouts Triton has chosen, in files that end so, keep them.
pub fn named_layouts_stay(target: &dyn Target, words: (&Dialects, &Imports), endings: &[&str]) {
    let families = FamilySet::new(vec![&Neutral, target.families()]);
    let context = PlanContext::of(target.description()).with_instructions(target.instructions());
    stay(context, &families, words, endings);
}
