//! Plans of data movement need no local memory.

use tilewright_plugin::Emit;
use tilewright_vendor_testkit::plans;

use super::ptxas::assemble_without_spills;
use crate::conversions::{cases, h100};

pub fn conversions_spill_nothing() {
    let target = h100();
    for case in cases() {
        let artifact = case.planned(&target).compiled(&target, &[Emit::Assembly]);
        assemble_without_spills(case.name, "sm_90a", artifact.text(Emit::Assembly).unwrap());
    }
}

pub fn plans_spill_nothing() {
    let target = h100();
    for plan in plans::all(&target, 5) {
        let artifact = plan.compiled(&target);
        assemble_without_spills(&plan.name, "sm_90a", artifact.text(Emit::Assembly).unwrap());
    }
}
