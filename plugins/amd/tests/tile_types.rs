//! Types of real programs name layouts of this vendor's families.
#![allow(clippy::unwrap_used)]

#[path = "../../llvm/tests/tile_types/mod.rs"]
mod tile_types;

use tilewright::target::TargetDescription;
use tilewright_amd::AmdTarget;

#[test]
fn every_type_of_a_real_program_has_a_layout() {
    let text = include_str!("../../../targets/mi300x.toml");
    let target = AmdTarget::new(TargetDescription::from_toml("mi300x.toml", text).unwrap()).unwrap();
    if let Some(count) = tile_types::all_have_layouts(&target, &[".gfx942.ttgir"], 64) {
        assert!(count > 300, "{count} types");
    }
}
