//! Properties of Intel GPU architectures on which code generation depends.

use tilewright_intel_tables::ARCHITECTURES;

/// One Intel GPU architecture, with the properties on which code generation depends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Architecture {
    /// The architecture's name in target files and in the offline compiler `ocloc`, such as `pvc`.
    pub name: &'static str,
    /// Whether the architecture computes in binary64. If false, binary64 values can only be moved.
    pub computes_f64: bool,
    /// Whether the offline compiler `ocloc` of Debian 12 supports the architecture, so that it can check generated
    /// code.
    pub is_known_offline: bool,
}

/// Architectures that do not compute in binary64.
const WITHOUT_F64: [&str; 1] = ["dg2"];

/// Architectures that the offline compiler of Debian 12 does not know, because they are newer.
const NEW: [&str; 1] = ["xe2"];

impl Architecture {
    /// Returns the architecture of this name; `None` if this plugin does not serve it.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        let name = ARCHITECTURES.iter().find(|known| **known == name)?;
        let (computes_f64, is_known_offline) = (!WITHOUT_F64.contains(name), !NEW.contains(name));
        Some(Self { name, computes_f64, is_known_offline })
    }
}
