//! Layout assignment to the programs of the shared test data, on a vendor's targets.

use super::{assign_and_check, check_layouts_stay, programs};
use crate::prelude::*;
use tilewright_tile::import::ForeignOpReplacements;
use tilewright_tile::op::Dialects;

/// Checks that every program gets layouts. Over all programs that Triton compiles for this target, at most as many costly conversions may remain as in Triton's results. `triton`
/// is Triton's name of the target; `None` if it has none.
pub fn every_program_has_layouts(target: &dyn Target, triton: Option<&str>) {
    let families = FamilyProviders::new(vec![&NeutralFamilies, target.families()]);
    let description = target.description();
    let context = PlanContext::new(description).with_instructions(target.instructions());
    let mut conversions = [0, 0];
    for program in programs() {
        let config =
            LaunchConfig { context, families: &families, lanes: description.lanes.default, warps: program.warps };
        let label = format!("{}, {}", description.name, program.name);
        let assignment = assign_and_check(&program, &config).unwrap_or_else(|error| panic!("{label}: {error}"));
        let left = assignment.report.costly_conversions().count() as u64;
        if let Some(theirs) = triton.and_then(|triton| program.of_triton(triton)) {
            conversions = [conversions[0] + left, conversions[1] + theirs];
        }
    }
    let [ours, theirs] = conversions;
    assert!(ours <= theirs, "{}: {ours} conversions, and Triton leaves {theirs}", description.name);
}

/// Checks that layout assignment keeps the layouts of programs that Triton has assigned layouts to. `words` are the
/// dialects for parsing, and the import tables that replace vendors' operations. The programs are the files of the
/// shared test data whose names end with one of `endings`.
pub fn named_layouts_stay(target: &dyn Target, words: (&Dialects, &ForeignOpReplacements), endings: &[&str]) {
    let families = FamilyProviders::new(vec![&NeutralFamilies, target.families()]);
    let context = PlanContext::new(target.description()).with_instructions(target.instructions());
    check_layouts_stay(context, &families, words, endings);
}
