//! Types of real programs name layouts of this vendor's families.
#![allow(clippy::unwrap_used)]

use tilewright_vendor_testkit::tile_types;

use tilewright_amd::AmdTarget;
use tilewright_target::TargetDescription;

pub fn every_type_of_a_real_program_has_a_layout() {
    let text = include_str!("../../../../targets/mi300x.toml");
    let target = AmdTarget::new(TargetDescription::from_toml("mi300x.toml", text).unwrap()).unwrap();
    let count = tile_types::all_have_layouts(&target, &[".gfx942.ttgir"], 64);
    assert!(count > 300, "{count} types");
}
