//! The interface through which the suite gets the targets to test.

use std::path::PathBuf;
use std::sync::Arc;

use thiserror::Error;
use tilewright_plugin::Target;
use tilewright_target::TargetDescription;

use crate::ServingPluginRecord;

/// The targets that a program can test.
pub trait TestableTargets: Send + Sync {
    /// Returns the descriptions of the known targets, sorted by name; opens no plugin.
    fn list(&self) -> Vec<&TargetDescription>;

    /// Opens a target by name, through the plugin that serves it.
    ///
    /// # Errors
    /// [`OpenError`] if no target has the name or its plugin does not work.
    fn open(&self, name: &str) -> Result<Arc<dyn Target>, OpenError>;

    /// Returns the plugin that serves a target; `None` if there is none or it is statically linked.
    fn plugin(&self, name: &str) -> Option<ServingPluginRecord> {
        let _ = name;
        None
    }

    /// Returns the file of known answers that came with a target's plugin; `None` if there is none.
    fn answers(&self, name: &str) -> Option<PathBuf> {
        let _ = name;
        None
    }
}

/// The reason why a target cannot be tested.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum OpenError {
    /// There is no such target, plugin file or target file; the fault lies with the caller.
    #[error("{0}")]
    Unknown(String),
    /// The target is known, but its plugin is missing or does not work.
    #[error("target `{target}` cannot be opened: {message}")]
    Broken {
        /// The name of the target that cannot be opened.
        target: String,
        /// The error, and its remedy.
        message: String,
    },
}
