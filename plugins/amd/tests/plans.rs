//! The assembly of reductions, scans, gathers and accesses of shared memory moves what their plans say, and
//! nothing goes to scratch.
#![allow(clippy::unwrap_used)]

mod assembly;
#[path = "../../llvm/tests/layouts/mod.rs"]
mod layouts;
#[path = "../../llvm/tests/movement/mod.rs"]
mod movement;
#[path = "../../llvm/tests/plans/mod.rs"]
mod plans;

use movement::Movement;
use tilewright::target::TargetDescription;
use tilewright::vendor::Emit;
use tilewright_amd::AmdTarget;

fn mi250() -> AmdTarget {
    let text = include_str!("../../../targets/mi250.toml");
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
