//! The assembly of reductions, scans, gathers and shared-memory accesses moves data as their plans say, and nothing is
//! spilled to scratch memory.

use tilewright_vendor_testkit::plans;

use crate::assembly::READER;
use crate::targets::target;

#[test]
fn the_assembly_moves_what_the_plans_say() {
    plans::code_moves_what_the_plans_say(&target("mi250"), 6, &READER);
}

/// Checks that a reduction combines lanes of a row of 16 by DPP moves, and lanes further apart by indexed shuffles.
#[test]
fn lanes_of_a_row_are_summed_by_moves_within_it() {
    let target = target("mi250");
    let plans = plans::all(&target, 6).into_iter();
    let by_lanes = plans.filter(|plan| plan.name.starts_with("reduction") && plan.movement.shuffles >= 2);
    let codes: Vec<String> = by_lanes.map(|plan| plan.assembly(&target)).collect();
    let is_by_moves = |code: &String| code.contains("v_add_u32_dpp") && code.contains("quad_perm:[1,0,3,2]");
    assert!(codes.iter().any(is_by_moves), "{codes:?}");
}

#[test]
fn accesses_of_explicit_layouts_move_what_the_plans_say() {
    plans::accesses_move_what_the_plans_say(&target("mi250"), 6, &READER);
}
