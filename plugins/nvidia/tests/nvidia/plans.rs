//! The PTX of reductions, scans, gathers and shared-memory accesses moves data as their plans say, and uses no local
//! memory.

use crate::prelude::*;
use tilewright_vendor_testkit::plans;

use crate::ptx::READER;

#[test]
fn the_ptx_moves_what_the_plans_say() {
    plans::code_moves_what_the_plans_say(&target("h100"), 5, &READER);
}

#[test]
fn accesses_of_explicit_layouts_move_what_the_plans_say() {
    plans::accesses_move_what_the_plans_say(&target("h100"), 5, &READER);
}
