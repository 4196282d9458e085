//! Types of real programs name layouts of this vendor's families.
#![allow(clippy::unwrap_used)]

use tilewright_vendor_testkit::tile_types;

use tilewright_nvidia::NvidiaTarget;
use tilewright_target::TargetDescription;

pub fn every_type_of_a_real_program_has_a_layout() {
    let text = include_str!("../../../../targets/h100.toml");
    let target = NvidiaTarget::new(TargetDescription::from_toml("h100.toml", text).unwrap()).unwrap();
    let count = tile_types::all_have_layouts(&target, &[".cuda80.ttgir", ".cuda90.ttgir"], 32);
    assert!(count > 500, "{count} types");
}
