//! Opening a session: which targets there are, where plugins are looked for, and in whose process they run.

use std::path::{Path, PathBuf};
use std::time::Duration;

use thiserror::Error;

use tilewright_plugin::{Discovery, HostCommand, LoadError, Registry};
use tilewright_target::{Catalogue, CatalogueError};

use super::Session;

/// Settings of a [`Session`] that is to be opened; see [`Session::builder`].
#[derive(Debug)]
pub struct SessionBuilder {
    catalogue: Catalogue,
    discovery: Discovery,
    registry: Registry,
}

/// Why a session cannot be opened; the caller's fault.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum SessionError {
    /// A directory of target files cannot be read, or a file in it is wrong.
    #[error(transparent)]
    Targets(#[from] CatalogueError),
    /// A plugin that the caller named cannot be loaded.
    #[error(transparent)]
    Plugin(#[from] LoadError),
}

impl Session {
    /// Begins a session over the targets of `catalogue`. Unless the builder is told otherwise, plugins are looked for in the
    /// standard places ([`Discovery::standard`]) and run in this process.
    #[must_use]
    pub fn builder(catalogue: Catalogue) -> SessionBuilder {
        SessionBuilder { catalogue, discovery: Discovery::standard(), registry: Registry::new() }
    }
}

impl SessionBuilder {
    /// The argument with which a program is started to serve a plugin; the plugin's library follows it.
    pub const PLUGIN_HOST: &str = "plugin-host";

    /// Adds the target files of directories.
    ///
    /// # Errors
    /// [`SessionError::Targets`].
    pub fn target_directories<P: AsRef<Path>>(
        mut self,
        directories: impl IntoIterator<Item = P>,
    ) -> Result<Self, SessionError> {
        for directory in directories {
            self.catalogue.add_directory(directory.as_ref())?;
        }
        Ok(self)
    }

    /// Loads these libraries or manifests before those that are found.
    #[must_use]
    pub fn plugins<P: Into<PathBuf>>(mut self, files: impl IntoIterator<Item = P>) -> Self {
        self.discovery.files.extend(files.into_iter().map(Into::into));
        self
    }

    /// Looks for plugins in other places than the standard ones.
    #[must_use]
    pub fn discovery(self, discovery: Discovery) -> Self {
        Self { discovery, ..self }
    }

    /// Runs each plugin in a process of its own, so that none can take this one down: `program` is started with
    /// [`Self::PLUGIN_HOST`], as the command `tilewright` can be. A call that takes longer than `limit` ends the process.
    #[must_use]
    pub fn isolated(self, program: impl Into<PathBuf>, limit: Duration) -> Self {
        Self { registry: Registry::isolated(HostCommand::new(program, [Self::PLUGIN_HOST]), limit), ..self }
    }

    /// Reads the manifests, and opens only the plugins that the caller named. The registry ([`Session::registry`]) lists the
    /// plugins that were refused.
    ///
    /// # Errors
    /// [`SessionError::Plugin`] of a file that the caller named.
    pub fn open(mut self) -> Result<Session, SessionError> {
        self.registry.discover(&self.discovery)?;
        Ok(Session::new(self.catalogue, self.registry))
    }
}
