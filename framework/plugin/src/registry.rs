//! The registry of plugins, which creates targets with them.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use thiserror::Error;

use super::channel::{Call, Channel};
use super::discovery::{self, PATH_VARIABLE, PluginSearchPath};
use super::factory::TargetFactory;
use super::factory_error::FactoryError;
use super::isolated::{Isolated, PluginHostCommand};
use super::library::{self, Library};
use super::load_error::LoadError;
use super::manifest::{MANIFEST_SUFFIX, PluginManifest};
use super::message::PluginInfo;
use super::proxy::Proxy;
use super::wire;
use crate::Target;
use tilewright_target::TargetDescription;

/// How a registry found a plugin. If two plugins serve one architecture, the origin that is declared first here has
/// precedence; of equal origins, the plugin that was added first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PluginOrigin {
    /// The user named the plugin's library.
    Named,
    /// The plugin is linked into this program.
    Linked,
    /// The plugin's manifest was found in a directory.
    Discovered,
}

/// A plugin that a registry knows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RegisteredPlugin {
    /// The plugin's name: one word, e.g. `acme`.
    pub name: String,
    /// The plugin's version, e.g. `0.1.0`.
    pub version: String,
    /// The path of the plugin's library; `None` if the plugin is linked into this program.
    pub file: Option<PathBuf>,
    /// The names of the architectures that the plugin serves.
    pub architectures: Vec<String>,
    /// The tools that generate the plugin's code, from its manifest; empty without a manifest.
    pub built_with: Vec<String>,
    /// How the registry found the plugin.
    pub origin: PluginOrigin,
}

/// A manifest or directory that a registry searched for a plugin and rejected.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RejectedPlugin {
    /// The rejected manifest or directory.
    pub file: PathBuf,
    /// The reason why it was rejected, with the file's name and a remedy.
    pub reason: String,
}

/// An architecture that more than one plugin serves.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShadowedPlugin {
    /// The name of the architecture.
    pub architecture: String,
    /// The plugin that serves the architecture.
    pub served_by: RegisteredPlugin,
    /// Another plugin for the architecture, which is not used.
    pub passed_over: RegisteredPlugin,
}

/// The reason why a registry cannot provide a target.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum RegistryError {
    /// No plugin serves the architecture: its plugin is missing or was rejected.
    #[error(
        "no plugin serves architecture `{architecture}` of target `{target}`; {}; put the directory of a plugin \
         that does in {PATH_VARIABLE}, or name its library{}",
        served(.known), refused(.refusals)
    )]
    NoPlugin {
        /// The name of the requested target.
        target: String,
        /// The name of the target's architecture.
        architecture: String,
        /// The names of the architectures that the known plugins serve.
        known: Vec<String>,
        /// The plugins that the registry rejected.
        refusals: Vec<RejectedPlugin>,
    },
    /// The plugin that serves the architecture cannot be loaded.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// The plugin did not create the target.
    #[error("target `{target}`: {error}")]
    Target {
        /// The name of the requested target.
        target: String,
        /// The reason why the plugin created no target.
        error: FactoryError,
    },
}

fn served(known: &[String]) -> String {
    if known.is_empty() {
        return format!("no plugin was found, by a manifest `NAME{MANIFEST_SUFFIX}` in a searched directory");
    }
    format!("served targets: {}", known.join(", "))
}

fn refused(refusals: &[RejectedPlugin]) -> String {
    refusals.iter().map(|refusal| format!("\n  rejected: {}", refusal.reason)).collect()
}

/// How an entry of the registry creates targets.
enum Source {
    Linked(Vec<&'static TargetFactory>),
    Opened(Arc<dyn Channel>),
    Manifest { file: PathBuf, manifest: PluginManifest, opened: Mutex<Option<Arc<dyn Channel>>> },
}

struct Entry {
    plugin: RegisteredPlugin,
    source: Source,
}

/// How a registry opens plugin libraries: in this process, or each in a process of its own.
enum Loading {
    Here,
    Isolated(PluginHostCommand, Duration),
}

/// A registry of plugins, linked or loaded, that creates targets with them.
///
/// # Examples
/// ```
/// use tilewright_plugin::{PluginSearchPath, Registry};
/// let mut registry = Registry::new();
/// let rejected = registry.discover(&PluginSearchPath { directories: vec!["plugins".into()], ..PluginSearchPath::default() })?;
/// assert!(rejected[0].reason.contains("give the full path"));
/// assert_eq!(registry.find_server("sm_90"), None);
/// # Ok::<(), tilewright_plugin::LoadError>(())
/// ```
pub struct Registry {
    loading: Loading,
    /// The plugins, ordered by origin; plugins of one origin in the order of their addition.
    entries: Vec<Entry>,
    refusals: Vec<RejectedPlugin>,
    targets: Mutex<Vec<Arc<dyn Target>>>,
}

impl fmt::Debug for Registry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Registry").field("plugins", &self.plugins()).field("refusals", &self.refusals).finish()
    }
}

impl Default for Registry {
    fn default() -> Self {
        Self::new()
    }
}

impl Registry {
    /// Creates a registry that opens libraries in this process; it has the plugins linked into the program.
    #[must_use]
    pub fn new() -> Self {
        Self::with(Loading::Here)
    }

    /// Creates a registry that serves every plugin library in a process of its own, which `command` starts; a call that
    /// exceeds `limit` kills that process. Plugins linked into the program are served in this process.
    #[must_use]
    pub fn new_isolated(command: PluginHostCommand, limit: Duration) -> Self {
        Self::with(Loading::Isolated(command, limit))
    }

    fn with(loading: Loading) -> Self {
        let mut linked: BTreeMap<&str, Vec<&'static TargetFactory>> = BTreeMap::new();
        for factory in TargetFactory::all() {
            linked.entry(factory.plugin).or_default().push(factory);
        }
        let entries = linked.into_values().map(|factories| Entry {
            plugin: RegisteredPlugin {
                name: factories[0].plugin.to_owned(),
                version: factories[0].version.to_owned(),
                file: None,
                architectures: factories
                    .iter()
                    .flat_map(|factory| factory.architectures)
                    .map(|&a| a.to_owned())
                    .collect(),
                built_with: Vec::new(),
                origin: PluginOrigin::Linked,
            },
            source: Source::Linked(factories),
        });
        Self { loading, entries: entries.collect(), refusals: Vec::new(), targets: Mutex::default() }
    }

    /// Opens a plugin's library, or the library of a manifest. The plugin gets precedence over linked and discovered
    /// plugins, and over plugins that are loaded later.
    ///
    /// # Errors
    /// [`LoadError`] if the manifest or the library cannot be used; the registry is then unchanged.
    ///
    /// # Examples
    /// ```
    /// use std::path::Path;
    /// use tilewright_plugin::Registry;
    /// let error = Registry::new().load(Path::new("/no/such/plugin.so")).expect_err("no file");
    /// assert!(error.to_string().contains("/no/such/plugin.so"));
    /// ```
    pub fn load(&mut self, file: &Path) -> Result<&RegisteredPlugin, LoadError> {
        let is_manifest = file.to_string_lossy().ends_with(MANIFEST_SUFFIX);
        let manifest = if is_manifest { Some(PluginManifest::read(file)?) } else { None };
        let library = manifest.as_ref().map_or_else(|| file.to_owned(), |manifest| manifest.library_path(file));
        let tables_in_process = manifest.as_ref().is_some_and(|manifest| manifest.tables_in_process);
        let (channel, info) =
            self.open(&library, tables_in_process).inspect_err(|error| discovery::trace(file, &error.to_string()))?;
        let mut built_with = Vec::new();
        if let Some(manifest) = manifest {
            manifest.check_against(file, &info)?;
            built_with = manifest.built_with;
        }
        discovery::trace(file, "loaded");
        let plugin = RegisteredPlugin {
            name: info.name,
            version: info.version,
            file: Some(channel.file().to_owned()),
            architectures: info.architectures,
            built_with,
            origin: PluginOrigin::Named,
        };
        let at = self.insert(Entry { plugin, source: Source::Opened(channel) });
        Ok(&self.entries[at].plugin)
    }

    /// Opens the files and reads the manifests that a search names, without opening the manifests' libraries. Returns
    /// the rejected candidates, which the error for a missing target repeats.
    ///
    /// # Errors
    /// [`LoadError`] if one of `discovery.files` cannot be loaded.
    pub fn discover(&mut self, discovery: &PluginSearchPath) -> Result<Vec<RejectedPlugin>, LoadError> {
        for file in &discovery.files {
            self.load(file)?;
        }
        let before = self.refusals.len();
        for directory in &discovery.directories {
            match discovery::manifests_in(directory) {
                Ok(files) => files.iter().for_each(|file| self.add_manifest(file)),
                Err(reason) => self.refuse(directory, format!("{}: {reason}", directory.display())),
            }
        }
        Ok(self.refusals[before..].to_vec())
    }

    fn refuse(&mut self, file: &Path, reason: String) {
        discovery::trace(file, &reason);
        if !self.refusals.iter().any(|refusal| refusal.file == file) {
            self.refusals.push(RejectedPlugin { file: file.to_owned(), reason });
        }
    }

    fn add_manifest(&mut self, file: &Path) {
        let found = PluginManifest::read(file)
            .and_then(|manifest| Ok((library::checked_path(&manifest.library_path(file))?, manifest)));
        let (library, manifest) = match found {
            Ok(found) => found,
            Err(error) => return self.refuse(file, error.to_string()),
        };
        if self.entries.iter().any(|entry| entry.plugin.file.as_ref() == Some(&library)) {
            return discovery::trace(file, "its library is known already");
        }
        discovery::trace(file, "accepted");
        let plugin = RegisteredPlugin {
            name: manifest.name.clone(),
            version: manifest.version.clone(),
            file: Some(library),
            architectures: manifest.architectures.clone(),
            built_with: manifest.built_with.clone(),
            origin: PluginOrigin::Discovered,
        };
        let source = Source::Manifest { file: file.to_owned(), manifest, opened: Mutex::default() };
        self.insert(Entry { plugin, source });
    }

    /// Inserts an entry after those of the same or an earlier origin; returns its index.
    fn insert(&mut self, entry: Entry) -> usize {
        let at = self.entries.partition_point(|other| other.plugin.origin <= entry.plugin.origin);
        self.entries.insert(at, entry);
        // The new plugin may take over an architecture, so the cached targets are dropped.
        self.targets.get_mut().unwrap_or_else(PoisonError::into_inner).clear();
        at
    }

    /// Opens a library, here or in a process of its own, and reads the plugin's name, version and architectures. With
    /// `tables_in_process` (from the manifest), the library is opened here as well, for all calls except those that
    /// compile or access a device.
    fn open(&self, file: &Path, tables_in_process: bool) -> Result<(Arc<dyn Channel>, PluginInfo), LoadError> {
        let channel: Arc<dyn Channel> = match &self.loading {
            Loading::Here => Arc::new(Library::open(file)?),
            Loading::Isolated(command, limit) => {
                let tables = tables_in_process.then(|| Library::open(file)).transpose()?;
                Arc::new(Isolated::new(command.clone(), library::checked_path(file)?, *limit, tables))
            }
        };
        let info = describe(&*channel)?;
        Ok((channel, info))
    }

    /// Opens the library of a manifest, and checks that the library agrees with the manifest.
    fn open_manifest(&self, file: &Path, manifest: &PluginManifest) -> Result<Arc<dyn Channel>, LoadError> {
        let (channel, info) = self.open(&manifest.library_path(file), manifest.tables_in_process)?;
        manifest.check_against(file, &info)?;
        Ok(channel)
    }

    /// Returns the known plugins, in order of precedence.
    #[must_use]
    pub fn plugins(&self) -> Vec<&RegisteredPlugin> {
        self.entries.iter().map(|entry| &entry.plugin).collect()
    }

    /// Returns the files and directories that were rejected.
    #[must_use]
    pub fn rejected_plugins(&self) -> &[RejectedPlugin] {
        &self.refusals
    }

    /// Returns the architectures that more than one plugin serves.
    #[must_use]
    pub fn duplicate_architectures(&self) -> Vec<ShadowedPlugin> {
        let mut duplicates = Vec::new();
        for entry in &self.entries {
            for architecture in &entry.plugin.architectures {
                match self.find_server(architecture) {
                    Some(first) if *first != entry.plugin => duplicates.push(ShadowedPlugin {
                        architecture: architecture.clone(),
                        served_by: first.clone(),
                        passed_over: entry.plugin.clone(),
                    }),
                    _ => {}
                }
            }
        }
        duplicates
    }

    /// Returns the plugin that serves an architecture; `None` if none does.
    #[must_use]
    pub fn find_server(&self, architecture: &str) -> Option<&RegisteredPlugin> {
        self.entry(architecture).map(|entry| &entry.plugin)
    }

    fn entry(&self, architecture: &str) -> Option<&Entry> {
        self.entries.iter().find(|entry| entry.plugin.architectures.iter().any(|name| name == architecture))
    }

    /// Returns the target of a description, from the plugin that serves its architecture. Repeated requests return the
    /// same target.
    ///
    /// # Errors
    /// [`RegistryError`] if no plugin serves the architecture, or if its plugin cannot be loaded, does not create the
    /// target or gives an invalid instruction table.
    pub fn create_target(&self, description: &TargetDescription) -> Result<Arc<dyn Target>, RegistryError> {
        let target = self.create_target_without_table(description)?;
        let failed = |error| RegistryError::Target { target: description.name.clone(), error };
        target.read_instructions().map_err(failed)?;
        Ok(target)
    }

    /// Returns the target of a description, possibly before its instruction table is read: enough for layouts and for
    /// [`Target::instructions_of`].
    ///
    /// # Errors
    /// [`RegistryError`] if no plugin serves the architecture, or if its plugin cannot be loaded or does not create the
    /// target.
    pub fn create_target_without_table(
        &self,
        description: &TargetDescription,
    ) -> Result<Arc<dyn Target>, RegistryError> {
        // The lock is held while the target is created, so that concurrent requests create it only once.
        let mut targets = self.targets.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = targets.iter().find(|target| target.description() == description) {
            return Ok(Arc::clone(known));
        }
        let entry = self.entry(&description.architecture).ok_or_else(|| self.unserved_error(description))?;
        let target = entry.target(self, description)?;
        targets.push(Arc::clone(&target));
        Ok(target)
    }

    fn unserved_error(&self, description: &TargetDescription) -> RegistryError {
        let mut known: Vec<_> = self.entries.iter().flat_map(|entry| entry.plugin.architectures.clone()).collect();
        known.sort();
        known.dedup();
        RegistryError::NoPlugin {
            target: description.name.clone(),
            architecture: description.architecture.clone(),
            known,
            refusals: self.refusals.clone(),
        }
    }
}

/// Reads a plugin's name, version and architectures.
fn describe(channel: &dyn Channel) -> Result<PluginInfo, LoadError> {
    let broken = |message: String| LoadError::Broken { file: channel.file().to_owned(), message };
    let bytes = channel.call(Call::Describe).map_err(|failure| match failure.code {
        super::host::LOAD_FAILED => LoadError::Isolated(failure.to_string()),
        _ => broken(failure.to_string()),
    })?;
    wire::deserialize_message(&bytes)
        .map_err(|error| broken(format!("gave a description of itself that cannot be read: {error}")))
}

impl Entry {
    fn target(&self, registry: &Registry, description: &TargetDescription) -> Result<Arc<dyn Target>, RegistryError> {
        let failed = |error| RegistryError::Target { target: description.name.clone(), error };
        match &self.source {
            Source::Linked(factories) => {
                let serves =
                    |factory: &&&TargetFactory| factory.architectures.contains(&description.architecture.as_str());
                let unserved = || failed(FactoryError::Architecture(description.architecture.clone()));
                let factory = factories.iter().find(serves).ok_or_else(unserved)?;
                Ok(Arc::from((factory.create)(description.clone()).map_err(failed)?))
            }
            Source::Opened(channel) => Ok(Arc::new(Proxy::open(Arc::clone(channel), description).map_err(failed)?)),
            Source::Manifest { file, manifest, opened } => {
                let mut opened = opened.lock().unwrap_or_else(PoisonError::into_inner);
                let channel = match &*opened {
                    Some(channel) => Arc::clone(channel),
                    None => Arc::clone(opened.insert(registry.open_manifest(file, manifest)?)),
                };
                drop(opened);
                Ok(Arc::new(Proxy::open(channel, description).map_err(failed)?))
            }
        }
    }
}
