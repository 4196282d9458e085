//! The targets of the catalogue, behind the plugins that serve them, each in a process of its own.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use tilewright_plugin as plugin;
use tilewright_plugin::Target;
use tilewright_plugin::{Discovery, HostCommand, Registry};
use tilewright_target::{Catalogue, TargetDescription};

use crate::results::digest;
use crate::{OpenError, Served, Targets, answers};

/// The argument with which a program starts itself to serve a plugin.
const PLUGIN_HOST: &str = "plugin-host";

/// All products that are known by name.
#[derive(Debug)]
pub struct Products {
    catalogue: Catalogue,
    registry: Registry,
}

impl Products {
    /// The products of a catalogue; plugins are the given files, then those found where programs
    /// look for them. They are served by this program, see [`Products::serve_plugin`], and a call of one that takes longer
    /// than `limit` ends its process.
    ///
    /// # Errors
    /// A file that is no plugin, or a program that does not know its own name.
    pub fn open(catalogue: Catalogue, plugins: &[PathBuf], limit: Duration) -> Result<Self, OpenError> {
        let unknown = |error: &dyn std::fmt::Display| OpenError::Unknown(error.to_string());
        let program = std::env::current_exe().map_err(|error| unknown(&error))?;
        let mut registry = Registry::isolated(HostCommand::new(program, [PLUGIN_HOST]), limit);
        let discovery = plugins.iter().fold(Discovery::standard(), |discovery, file| discovery.file(file));
        registry.discover(&discovery).map_err(|error| unknown(&error))?;
        Ok(Self { catalogue, registry })
    }

    /// Where the arguments (without the program) say that this process is to serve a plugin, does so
    /// until it is told to end.
    #[must_use]
    pub fn serve_plugin(arguments: &[OsString]) -> Option<ExitCode> {
        let [command, file] = arguments else { return None };
        if command != PLUGIN_HOST {
            return None;
        }
        Some(plugin::serve(file.as_ref()).map_or_else(
            |error| {
                eprintln!("error: {error}");
                ExitCode::FAILURE
            },
            |()| ExitCode::SUCCESS,
        ))
    }
}

impl Targets for Products {
    fn list(&self) -> Vec<&TargetDescription> {
        self.catalogue.iter().collect()
    }

    fn open(&self, name: &str) -> Result<Arc<dyn Target>, OpenError> {
        let description = self.catalogue.get(name).map_err(|error| OpenError::Unknown(error.to_string()))?;
        let broken = |message: String| OpenError::Broken { target: name.to_owned(), message };
        self.registry.target(description).map_err(|error| broken(error.to_string()))
    }

    fn plugin(&self, name: &str) -> Option<Served> {
        let plugin = self.registry.serves(&self.catalogue.get(name).ok()?.architecture)?;
        let sha256 = plugin.file.as_deref().and_then(|file| digest(file).ok()).unwrap_or_default();
        let (name, version, built_with) = (plugin.name.clone(), plugin.version.clone(), plugin.built_with.clone());
        Some(Served { name, version, built_with, sha256 })
    }

    fn answers(&self, name: &str) -> Option<PathBuf> {
        let plugin = self.registry.serves(&self.catalogue.get(name).ok()?.architecture)?;
        answers::beside(plugin.file.as_deref()?, &plugin.name)
    }
}
