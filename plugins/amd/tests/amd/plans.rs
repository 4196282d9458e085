//! The assembly of reductions, scans, gathers and accesses of shared memory moves what their plans say, and
//! nothing goes to scratch.
#![allow(clippy::unwrap_used)]

use crate::assembly;
use tilewright_vendor_testkit::movement;
use tilewright_vendor_testkit::plans;

use movement::Movement;
use tilewright_amd::AmdTarget;
use tilewright_plugin::Emit;
use tilewright_target::TargetDescription;

fn mi250() -> AmdTarget {
    let text = include_str!("../../../../targets/mi250.toml");
    AmdTarget::new(TargetDescription::from_toml("mi250.toml", text).unwrap()).unwrap()
}

#[test]
fn the_assembly_moves_what_the_plans_say() {
    let target = mi250();
    for plan in plans::all(&target, 6) {
        let artifact = plan.compiled(&target);
        let code = artifact.text(Emit::Assembly).unwrap();
        assembly::goes_straight(code, true);
        let found = assembly::movement(code, "act");
        assert!(plan.is_done_by(found), "{}: {found:?}, planned {:?}: {code}", plan.name, plan.movement);
        assembly::spills_nothing(&plan.name, code);
    }
}

/// Neighbours within a row of lanes combine by moves of the vector unit; those further apart by index.
#[test]
fn lanes_of_a_row_are_summed_by_moves_within_it() {
    let target = mi250();
    let plans = plans::all(&target, 6);
    let by_lanes = plans.iter().filter(|plan| plan.name.starts_with("reduction") && plan.movement.exchanges >= 2);
    let codes: Vec<String> =
        by_lanes.map(|plan| plan.compiled(&target).text(Emit::Assembly).unwrap().to_owned()).collect();
    assert!(!codes.is_empty());
    assert!(
        codes.iter().any(|code| code.contains("v_add_u32_dpp") && code.contains("quad_perm:[1,0,3,2]")),
        "{codes:?}"
    );
}

#[test]
fn accesses_of_explicit_layouts_move_what_the_plans_say() {
    let target = mi250();
    for (plan, others) in plans::accesses(&target, 6) {
        let artifact = plan.compiled(&target);
        let code = artifact.text(Emit::Assembly).unwrap();
        let Movement { stored_bits, loaded_bits, exchanges, .. } = assembly::movement(code, "act");
        let expected = match plan.movement {
            Movement { stored_bits: 0, loaded_bits, .. } => (others, loaded_bits),
            Movement { stored_bits, .. } => (stored_bits, others),
        };
        assert_eq!((stored_bits, loaded_bits, exchanges), (expected.0, expected.1, 0), "{}: {code}", plan.name);
    }
}
