//! Where targets come from, as far as the suite must know.

use std::path::PathBuf;
use std::sync::Arc;

use thiserror::Error;
use tilewright_plugin::Target;
use tilewright_target::TargetDescription;

use crate::ServingPlugin;

/// The targets that a program can test.
pub trait Targets: Send + Sync {
    /// What is known of each, by name; opens nothing.
    fn list(&self) -> Vec<&TargetDescription>;

    /// A target by name.
    ///
    /// # Errors
    /// [`OpenError`].
    fn open(&self, name: &str) -> Result<Arc<dyn Target>, OpenError>;

    /// The plugin that serves a target, where one does that is known by name.
    fn plugin(&self, name: &str) -> Option<ServingPlugin> {
        let _ = name;
        None
    }

    /// The file of known answers that came with a target's plugin, where one did.
    fn answers(&self, name: &str) -> Option<PathBuf> {
        let _ = name;
        None
    }
}

/// Why a target cannot be tested.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum OpenError {
    /// There is no such target, plugin file or target file; the caller's fault.
    #[error("{0}")]
    Unknown(String),
    /// The target is known, but its plugin is missing or does not work.
    #[error("target `{target}` cannot be opened: {message}")]
    Broken {
        /// The target.
        target: String,
        /// What is wrong, what to do.
        message: String,
    },
}
