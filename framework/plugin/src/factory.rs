//! Registration: how a vendor's library crate says which architectures it serves.
//!
//! The registry of `inventory` is per image: the factories that a host sees are those linked into
//! it, and a plugin's are seen by the plugin's own entry symbol only.

use super::factory_error::FactoryError;
use crate::Target;
use tilewright_target::TargetDescription;

/// One group of architectures and what makes targets of them. Submit it with
/// [`register_targets!`](crate::register_targets).
#[derive(Debug, Clone, Copy)]
pub struct TargetFactory {
    /// Name of the plugin: one word.
    pub plugin: &'static str,
    /// Version of the plugin.
    pub version: &'static str,
    /// The architectures served, as target files name them.
    pub architectures: &'static [&'static str],
    /// Makes a target; called for these architectures only, and never twice at once.
    pub create: fn(TargetDescription) -> Result<Box<dyn Target>, FactoryError>,
}

inventory::collect!(TargetFactory);

impl TargetFactory {
    /// The factories of this image.
    pub(super) fn all() -> impl Iterator<Item = &'static Self> {
        inventory::iter::<Self>()
    }

    /// The factory of this image that serves an architecture.
    pub(super) fn of(architecture: &str) -> Option<&'static Self> {
        Self::all().find(|factory| factory.architectures.contains(&architecture))
    }
}

/// Registers the targets of a vendor's library crate:
///
/// ```text
/// tilewright::register_targets! { plugin: "acme", architectures: ARCHITECTURES, create: create }
/// ```
///
/// `create` is a `fn(TargetDescription) -> Result<Box<dyn Target>, FactoryError>`.
#[macro_export]
macro_rules! register_targets {
    (plugin: $plugin:expr, architectures: $architectures:expr, create: $create:expr $(,)?) => {
        $crate::inventory::submit! {
            $crate::TargetFactory {
                plugin: $plugin,
                version: env!("CARGO_PKG_VERSION"),
                architectures: $architectures,
                create: $create,
            }
        }
    };
}
