//! The PTX of reductions, scans, gathers and accesses of shared memory moves what their plans say, and
//! nothing goes to local memory.
#![allow(clippy::unwrap_used)]

use crate::ptx;
use tilewright_vendor_testkit::movement;
use tilewright_vendor_testkit::plans;

use movement::Movement;
use tilewright_nvidia::NvidiaTarget;
use tilewright_plugin::Emit;
use tilewright_target::TargetDescription;

fn h100() -> NvidiaTarget {
    let text = include_str!("../../../../targets/h100.toml");
    NvidiaTarget::new(TargetDescription::from_toml("h100.toml", text).unwrap()).unwrap()
}

#[test]
fn the_ptx_moves_what_the_plans_say() {
    let target = h100();
    for plan in plans::all(&target, 5) {
        let artifact = plan.compiled(&target);
        let code = artifact.text(Emit::Assembly).unwrap();
        ptx::goes_straight(code, true);
        let found = ptx::movement(code, "act");
        assert!(plan.is_done_by(found), "{}: {found:?}, planned {:?}: {code}", plan.name, plan.movement);
    }
}

#[test]
fn accesses_of_explicit_layouts_move_what_the_plans_say() {
    let target = h100();
    for (plan, others) in plans::accesses(&target, 5) {
        let artifact = plan.compiled(&target);
        let code = artifact.text(Emit::Assembly).unwrap();
        let Movement { stored_bits, loaded_bits, exchanges, .. } = ptx::movement(code, "act");
        let expected = match plan.movement {
            Movement { stored_bits: 0, loaded_bits, .. } => (others, loaded_bits),
            Movement { stored_bits, .. } => (stored_bits, others),
        };
        assert_eq!((stored_bits, loaded_bits, exchanges), (expected.0, expected.1, 0), "{}: {code}", plan.name);
    }
}
