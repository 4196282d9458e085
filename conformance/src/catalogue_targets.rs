//! The targets of a catalogue (a set of target files), through the plugins that serve them.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use tilewright::{Session, SessionBuilder};
use tilewright_plugin::{self as plugin, Target};
use tilewright_target::{TargetCatalogue, TargetDescription};

use crate::results::digest;
use crate::{OpenError, PluginIsolation, ServingPluginRecord, TestableTargets, answers};

/// All targets of a catalogue (a set of target files).
#[derive(Debug)]
pub struct CatalogueTargets(Session);

impl CatalogueTargets {
    /// Opens the targets of a catalogue. The given plugin files come before those that the standard search finds. With
    /// isolation, each plugin runs in a child process of this program, see [`CatalogueTargets::serve_plugin`], so that
    /// a crash ends only the child.
    ///
    /// # Errors
    /// [`OpenError`] if a file is not a plugin or the path of this program is unknown.
    pub fn open(
        catalogue: TargetCatalogue,
        plugins: &[PathBuf],
        isolation: PluginIsolation,
    ) -> Result<Self, OpenError> {
        let unknown = |error: &dyn std::fmt::Display| OpenError::Unknown(error.to_string());
        let mut builder = Session::builder(catalogue).with_plugins(plugins);
        if let PluginIsolation::Process(limit) = isolation {
            builder = builder.with_isolated_plugins(std::env::current_exe().map_err(|error| unknown(&error))?, limit);
        }
        Ok(Self(builder.open().map_err(|error| unknown(&error))?))
    }

    /// Returns the plugin that serves a target; `None` if none does.
    fn serving(&self, name: &str) -> Option<&plugin::RegisteredPlugin> {
        self.0.registry().find_server(&self.0.catalogue().get(name).ok()?.architecture)
    }

    /// Runs this process as the child process that hosts a plugin, until standard input ends, and returns the exit
    /// status. Returns `None` if the arguments, without the program's name, do not request this.
    #[must_use]
    pub fn serve_plugin(arguments: &[OsString]) -> Option<ExitCode> {
        let [command, file] = arguments else { return None };
        if command != SessionBuilder::PLUGIN_HOST_ARGUMENT {
            return None;
        }
        Some(plugin::serve_plugin(file.as_ref()).map_or_else(
            |error| {
                eprintln!("error: {error}");
                ExitCode::FAILURE
            },
            |()| ExitCode::SUCCESS,
        ))
    }
}

impl TestableTargets for CatalogueTargets {
    fn list(&self) -> Vec<&TargetDescription> {
        self.0.catalogue().iter().collect()
    }

    fn open(&self, name: &str) -> Result<Arc<dyn Target>, OpenError> {
        let description = self.0.catalogue().get(name).map_err(|error| OpenError::Unknown(error.to_string()))?;
        let broken = |message: String| OpenError::Broken { target: name.to_owned(), message };
        self.0.registry().create_target(description).map_err(|error| broken(error.to_string()))
    }

    fn plugin(&self, name: &str) -> Option<ServingPluginRecord> {
        let plugin = self.serving(name)?;
        let sha256 = plugin.file.as_deref().and_then(|file| digest(file).ok()).unwrap_or_default();
        let (name, version, built_with) = (plugin.name.clone(), plugin.version.clone(), plugin.built_with.clone());
        Some(ServingPluginRecord { name, version, built_with, sha256 })
    }

    fn answers(&self, name: &str) -> Option<PathBuf> {
        let plugin = self.serving(name)?;
        answers::plugin_answers_file(plugin.file.as_deref()?, &plugin.name)
    }
}
