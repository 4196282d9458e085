//! Properties of an architecture that code generation depends on.

use super::ARCHITECTURES;

/// Properties of an architecture that code generation depends on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Architecture {
    /// Its name, as target files and the offline compiler write it.
    pub name: &'static str,
    /// Whether its lanes compute binary64. Where they do not, such values can be moved only.
    pub computes_f64: bool,
    /// Whether the offline compiler that distributions have knows it.
    pub is_known_offline: bool,
}

/// Architectures whose lanes do not compute binary64.
const WITHOUT_F64: [&str; 1] = ["dg2"];

/// Architectures that are newer than the offline compiler of Debian 12.
const NEW: [&str; 1] = ["xe2"];

impl Architecture {
    /// The architecture of a name, where this plugin serves it.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        let name = ARCHITECTURES.iter().find(|known| **known == name)?;
        let (computes_f64, is_known_offline) = (!WITHOUT_F64.contains(name), !NEW.contains(name));
        Some(Self { name, computes_f64, is_known_offline })
    }
}
