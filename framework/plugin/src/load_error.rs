//! Errors in loading a plugin's library or manifest.

use std::path::PathBuf;

use thiserror::Error;

use super::abi::{ABI_MAJOR, ENTRY_SYMBOL};

/// The reason why a plugin was not loaded; each names the file and a remedy.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum LoadError {
    /// The library or manifest does not exist.
    #[error("{}: no such plugin library; build or install it, or name another file", .file.display())]
    NotFound {
        /// The path of the missing file.
        file: PathBuf,
    },
    /// The library or manifest is world-writable.
    #[error(
        "{}: not loaded, since everybody may write to it; remove that permission (chmod o-w) if you trust it",
        .file.display()
    )]
    WorldWritable {
        /// The path of the world-writable file.
        file: PathBuf,
    },
    /// The file is not a complete shared library, or the system's loader rejects it.
    #[error("{}: cannot be opened as a shared library: {message}; build or install it again", .file.display())]
    NotALibrary {
        /// The path of the rejected file.
        file: PathBuf,
        /// The reason why the file was rejected.
        message: String,
    },
    /// The library does not export the entry symbol.
    #[error(
        "{}: no Tilewright plugin, since it does not export `{ENTRY_SYMBOL}`; name a plugin's library, or \
         call `export_plugin!` in it",
        .file.display()
    )]
    NoEntry {
        /// The path of the library.
        file: PathBuf,
    },
    /// The plugin is for another major version of the interface.
    #[error(
        "{}: built for {}, and this is version {ABI_MAJOR}; install a version of the plugin for it",
        .file.display(),
        .found.map_or_else(
            || "another version of the plugin interface".to_owned(),
            |found| format!("version {found} of the plugin interface"),
        )
    )]
    Version {
        /// The path of the plugin's library.
        file: PathBuf,
        /// The plugin's major version of the interface; `None` if it gives none.
        found: Option<u32>,
    },
    /// The plugin violates the rules of the interface.
    #[error("{}: breaks the plugin interface: {message}; report this to the plugin's author", .file.display())]
    Broken {
        /// The path of the plugin's library.
        file: PathBuf,
        /// Description of the violated rule.
        message: String,
    },
    /// A manifest cannot be used.
    #[error("{}: {message}", .file.display())]
    Manifest {
        /// The path of the manifest.
        file: PathBuf,
        /// The fault of the manifest, and a remedy.
        message: String,
    },
    /// The process that should serve the plugin failed; the message has the file and a remedy.
    #[error("{0}")]
    Isolated(String),
}
