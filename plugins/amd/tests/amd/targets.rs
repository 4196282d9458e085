//! Targets of this vendor by name.

use tilewright_amd::AmdTarget;
use tilewright_vendor_testkit::targets::target_description;

/// Returns the target of this name.
pub fn target(name: &str) -> AmdTarget {
    AmdTarget::new(target_description(name)).expect("the architecture is served")
}
