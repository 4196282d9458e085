//! Errors in the creation of a target or in the reading of its tables.

use thiserror::Error;

/// The reason why a factory created no target.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum FactoryError {
    /// The plugin does not serve this architecture; the caller's fault.
    #[error("this plugin cannot create a target of architecture `{0}`")]
    Architecture(String),
    /// The target's description lacks something or is inconsistent: the fault of the target file.
    #[error("target description: {0}")]
    Description(String),
    /// The plugin failed; the plugin's fault.
    #[error("plugin failure: {0}")]
    Failed(String),
}
