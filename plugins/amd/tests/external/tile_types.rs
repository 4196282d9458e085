//! Types of real programs with layouts of this vendor's families.
#![allow(clippy::unwrap_used)]

use crate::targets::target;
use tilewright_amd::AmdTarget;
use tilewright_vendor_testkit::prelude::*;
use tilewright_vendor_testkit::tile_types;

pub fn every_type_of_a_real_program_has_a_layout() {
    let target = target("mi300x");
    let count = tile_types::all_have_layouts(&target, &[".gfx942.ttgir"], 64);
    assert!(count > 300, "{count} types");
}
