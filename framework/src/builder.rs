//! The builder of sessions: it sets targets, plugin search paths, and process isolation.

use std::path::{Path, PathBuf};
use std::time::Duration;

use thiserror::Error;

use tilewright_plugin::{LoadError, PluginHostCommand, PluginSearchPath, Registry};
use tilewright_target::{TargetCatalogue, TargetCatalogueError};

use super::Session;

/// Configures a [`Session`]; see [`Session::builder`].
#[derive(Debug)]
pub struct SessionBuilder {
    catalogue: TargetCatalogue,
    /// The plugins that the caller named.
    files: Vec<PathBuf>,
    discovery: PluginSearchPath,
    registry: Registry,
}

/// The reason why a session cannot be opened; the caller's fault.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum SessionOpenError {
    /// A directory of target files cannot be read, or one of its files is invalid.
    #[error(transparent)]
    Targets(#[from] TargetCatalogueError),
    /// A plugin file that the caller names cannot be loaded.
    #[error(transparent)]
    Plugin(#[from] LoadError),
}

impl Session {
    /// Creates the builder of a session over the targets of `catalogue`. By default, plugins are searched in the
    /// standard places ([`PluginSearchPath::default_search`]) and run in this process.
    ///
    /// # Examples
    /// ```
    /// use tilewright::Session;
    /// use tilewright::plugin::PluginSearchPath;
    ///
    /// // Only the plugins that are linked into this program: search nowhere.
    /// let session = Session::builder(tilewright_targets::read_default_catalogue()?).with_search_path(PluginSearchPath::default()).open()?;
    /// assert!(session.catalogue().get("mi300x").is_ok());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn builder(catalogue: TargetCatalogue) -> SessionBuilder {
        SessionBuilder {
            catalogue,
            files: Vec::new(),
            discovery: PluginSearchPath::default_search(),
            registry: Registry::new(),
        }
    }
}

impl SessionBuilder {
    /// The command-line argument that makes a program run as a plugin host; the path of the plugin's library follows
    /// it.
    pub const PLUGIN_HOST_ARGUMENT: &str = "plugin-host";

    /// Adds the target files of these directories to the catalogue.
    ///
    /// # Errors
    /// [`SessionOpenError::Targets`] if a directory cannot be read, or one of its target files is invalid.
    ///
    /// # Examples
    /// ```
    /// use tilewright::{Session, SessionOpenError};
    ///
    /// let builder = Session::builder(tilewright_targets::read_default_catalogue()?);
    /// assert!(matches!(builder.with_target_directories(["/no/such/directory"]), Err(SessionOpenError::Targets(_))));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn with_target_directories<P: AsRef<Path>>(
        mut self,
        directories: impl IntoIterator<Item = P>,
    ) -> Result<Self, SessionOpenError> {
        for directory in directories {
            self.catalogue.add_directory(directory.as_ref())?;
        }
        Ok(self)
    }

    /// Adds plugin libraries or manifests by path. [`Self::open`] loads them before it searches for other plugins.
    ///
    /// # Examples
    /// ```
    /// use tilewright::{Session, SessionOpenError};
    ///
    /// let builder = Session::builder(tilewright_targets::read_default_catalogue()?);
    /// assert!(matches!(builder.with_plugins(["/no/such/plugin.so"]).open(), Err(SessionOpenError::Plugin(_))));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn with_plugins<P: Into<PathBuf>>(mut self, files: impl IntoIterator<Item = P>) -> Self {
        self.files.extend(files.into_iter().map(Into::into));
        self
    }

    /// Replaces the places where plugins are searched; files that [`Self::with_plugins`] adds are loaded in addition.
    ///
    /// # Examples
    /// ```
    /// use tilewright::plugin::PluginSearchPath;
    /// use tilewright::{Session, SessionOpenError};
    ///
    /// let builder = Session::builder(tilewright_targets::read_default_catalogue()?);
    /// let builder = builder.with_plugins(["/no/such/plugin.so"]).with_search_path(PluginSearchPath::default());
    /// assert!(matches!(builder.open(), Err(SessionOpenError::Plugin(_))));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn with_search_path(self, discovery: PluginSearchPath) -> Self {
        Self { discovery, ..self }
    }

    /// Runs each plugin in a separate process, so that a crash of the plugin does not affect this process. `program` is
    /// started with [`Self::PLUGIN_HOST_ARGUMENT`]; the command `tilewright` supports it. If a call exceeds `limit`,
    /// the plugin's process is ended.
    ///
    /// # Examples
    /// ```no_run
    /// use std::time::Duration;
    /// use tilewright::Session;
    ///
    /// let builder = Session::builder(tilewright_targets::read_default_catalogue()?);
    /// let session = builder.with_isolated_plugins("/usr/local/bin/tilewright", Duration::from_secs(60)).open()?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn with_isolated_plugins(self, program: impl Into<PathBuf>, limit: Duration) -> Self {
        Self {
            registry: Registry::new_isolated(PluginHostCommand::new(program, [Self::PLUGIN_HOST_ARGUMENT]), limit),
            ..self
        }
    }

    /// Opens the [`Session`]. All manifests are read, but only the plugins that the caller named are opened.
    /// [`Session::registry`] lists rejected plugins.
    ///
    /// # Errors
    /// [`SessionOpenError::Plugin`]: a file that the caller named cannot be loaded.
    pub fn open(mut self) -> Result<Session, SessionOpenError> {
        self.discovery.files.extend(self.files);
        self.registry.discover(&self.discovery)?;
        Ok(Session::new(self.catalogue, self.registry))
    }
}
