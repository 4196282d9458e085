//! Layout assignment to the programs of the shared data, on the targets of a vendor.

use super::{assigned, programs, stay};
use crate::prelude::*;
use tilewright_assign::EngineError;
use tilewright_assign::Strategy;
use tilewright_tile::import::Imports;
use tilewright_tile::op::Dialects;

/// Checks that every program gets layouts. If Triton compiles it for this target too (`triton` is Triton's name of the
/// target), no more costly conversions may remain than in Triton's result. One program may have a dot that exceeds the
/// target's registers.
pub fn every_program_has_layouts(target: &dyn Target, triton: Option<&str>) {
    let families = FamilySet::new(vec![&Neutral, target.families()]);
    let description = target.description();
    let context = PlanContext::new(description).with_instructions(target.instructions());
    let mut beyond = Vec::new();
    for program in programs() {
        let config =
            LaunchConfig { context, families: &families, lanes: description.lanes.default, warps: program.warps };
        let label = format!("{}, {}", description.name, program.name);
        if let Err(EngineError::Mma { .. }) = assign_layouts(&program.module, &config, Strategy::Propagation) {
            beyond.push(program.name);
            continue;
        }
        let assignment = assigned(&program, &config).unwrap_or_else(|error| panic!("{label}: {error}"));
        let left = assignment.report.costly().count() as u64;
        if let Some(theirs) = triton.and_then(|triton| program.of_triton(triton)) {
            assert!(left <= theirs, "{label}: {left} conversions, and Triton leaves {theirs}");
        }
    }
    assert!(beyond.len() <= 1, "{}: no MMA strategy in {beyond:?}", description.name);
}

/// Checks that programs that have layouts from Triton, in files whose names end so, keep these layouts.
pub fn named_layouts_stay(target: &dyn Target, words: (&Dialects, &Imports), endings: &[&str]) {
    let families = FamilySet::new(vec![&Neutral, target.families()]);
    let context = PlanContext::new(target.description()).with_instructions(target.instructions());
    stay(context, &families, words, endings);
}
