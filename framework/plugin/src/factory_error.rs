//! Why a target could not be made, or could not say what it has.

use thiserror::Error;

/// Why a factory made no target.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum FactoryError {
    /// The plugin does not serve this architecture; the caller's fault.
    #[error("no target of architecture `{0}` can be made by this plugin")]
    Architecture(String),
    /// The description lacks something or cannot be: the target file's fault.
    #[error("target description: {0}")]
    Description(String),
    /// The plugin broke; its fault.
    #[error("plugin failure: {0}")]
    Failed(String),
}
