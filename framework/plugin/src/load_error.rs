//! What can be wrong with a plugin's library or manifest.

use std::path::PathBuf;

use thiserror::Error;

use super::abi::{ABI_MAJOR, ENTRY_SYMBOL};

/// Why a plugin was not loaded; each names the file and what to do.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum LoadError {
    /// There is no such file.
    #[error("{}: no such plugin library; build or install it, or name another file", .file.display())]
    NotFound {
        /// The file.
        file: PathBuf,
    },
    /// Everybody may write to the file.
    #[error(
        "{}: not loaded, since everybody may write to it; take that permission away (chmod o-w) if you trust it",
        .file.display()
    )]
    WorldWritable {
        /// The file.
        file: PathBuf,
    },
    /// The file is no whole shared library, or the system refuses it.
    #[error("{}: cannot be opened as a shared library: {message}; build or install it again", .file.display())]
    NotALibrary {
        /// The file.
        file: PathBuf,
        /// What is wrong.
        message: String,
    },
    /// The library does not export the entry symbol.
    #[error(
        "{}: no Tilewright plugin, since it does not export `{ENTRY_SYMBOL}`; name a plugin's library, or \
         call `export_plugin!` in it",
        .file.display()
    )]
    NoEntry {
        /// The file.
        file: PathBuf,
    },
    /// The plugin is for another major version of the interface.
    #[error(
        "{}: built for {}, and this is version {ABI_MAJOR}; install a version of the plugin that was made for it",
        .file.display(),
        .found.map_or_else(
            || "another version of the plugin interface".to_owned(),
            |found| format!("version {found} of the plugin interface"),
        )
    )]
    Version {
        /// The file.
        file: PathBuf,
        /// The version that the plugin says it is for, where it says one.
        found: Option<u32>,
    },
    /// The plugin breaks the rules of the interface.
    #[error("{}: breaks the plugin interface: {message}; report this to the plugin's author", .file.display())]
    Broken {
        /// The file.
        file: PathBuf,
        /// Which rule.
        message: String,
    },
    /// A manifest cannot be used.
    #[error("{}: {message}", .file.display())]
    Manifest {
        /// The manifest.
        file: PathBuf,
        /// What is wrong and what to do.
        message: String,
    },
    /// What happened in the process that was to serve the plugin, file and remedy included.
    #[error("{0}")]
    Isolated(String),
}
