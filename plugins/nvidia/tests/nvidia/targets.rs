//! Targets of this vendor by their names.

use tilewright_nvidia::NvidiaTarget;
use tilewright_vendor_testkit::targets::described;

/// The target with this name.
pub fn target(name: &str) -> NvidiaTarget {
    NvidiaTarget::new(described(name)).expect("the architecture is served")
}
