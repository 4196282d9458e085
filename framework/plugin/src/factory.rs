//! Registration of the architectures that a vendor's library crate serves.
//!
//! Each shared library or program has its own registry (`inventory`): a host sees the factories linked into it, and a
//! plugin's factories are visible only to that plugin's own entry symbol.

use super::factory_error::FactoryError;
use crate::Target;
use tilewright_target::TargetDescription;

/// A group of architectures and the function that creates their targets. Submit it with
/// [`register_targets!`](crate::register_targets).
#[derive(Debug, Clone, Copy)]
pub struct TargetFactory {
    /// Name of the plugin that the factory belongs to: one word, e.g. `acme`.
    pub plugin: &'static str,
    /// Version of the plugin, e.g. `0.1.0`.
    pub version: &'static str,
    /// The names of the architectures, as target files spell them.
    pub architectures: &'static [&'static str],
    /// Creates a target of one of `architectures`; never called concurrently.
    pub create: fn(TargetDescription) -> Result<Box<dyn Target>, FactoryError>,
}

inventory::collect!(TargetFactory);

impl TargetFactory {
    /// Returns the factories registered in this shared library or program.
    pub(super) fn all() -> impl Iterator<Item = &'static Self> {
        inventory::iter::<Self>()
    }

    /// Returns the factory registered in this library or program for an architecture; `None` if there is none.
    pub(super) fn find(architecture: &str) -> Option<&'static Self> {
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
