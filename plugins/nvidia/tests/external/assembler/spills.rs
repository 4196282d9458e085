//! The code of data-movement plans uses no local memory.

use crate::prelude::*;
use tilewright_vendor_testkit::{code, plans};

use super::ptxas::assemble_without_spills;
use crate::conversions::cases;

pub fn conversions_spill_nothing() {
    let target = target("h100");
    for case in cases() {
        let ptx = code::assembly(&target, vec![case.planned(&target).kernel]);
        assemble_without_spills(case.name, "sm_90a", &ptx);
    }
}

pub fn plans_spill_nothing() {
    let target = target("h100");
    for plan in plans::all(&target, 5) {
        assemble_without_spills(&plan.name, "sm_90a", &plan.assembly(&target));
    }
}
