//! The tensor types of real programs have layouts of this vendor's families.

use crate::prelude::*;
use tilewright_vendor_testkit::tile_types;

pub fn every_type_of_a_real_program_has_a_layout() {
    let target = target("h100");
    let count = tile_types::all_have_layouts(&target, &[".cuda80.ttgir", ".cuda90.ttgir"], 32);
    assert!(count > 500, "{count} types");
}
