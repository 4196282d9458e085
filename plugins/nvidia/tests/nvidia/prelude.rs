//! Names that nearly every test of this plugin uses.

pub use tilewright_nvidia::{NvidiaTarget, object};
pub use tilewright_nvidia_tables::ARCHITECTURES;
pub use tilewright_nvidia_tables::families::NvidiaFamilies;
pub use tilewright_nvidia_tables::instructions::instructions_of;
pub use tilewright_vendor_testkit::prelude::*;

/// Returns the target with this name.
pub fn target(name: &str) -> NvidiaTarget {
    NvidiaTarget::new(target_description(name)).expect("the architecture is served")
}
