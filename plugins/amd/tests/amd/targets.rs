//! Targets of this vendor by their names.

use tilewright_amd::AmdTarget;
use tilewright_vendor_testkit::targets::described;

/// The target with this name.
pub fn target(name: &str) -> AmdTarget {
    AmdTarget::new(described(name)).expect("the architecture is served")
}
