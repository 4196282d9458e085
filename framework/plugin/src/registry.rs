//! One place to ask for targets, whoever serves them.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use thiserror::Error;

use super::channel::{Call, Channel};
use super::discovery::{self, Discovery, PATH_VARIABLE};
use super::factory::TargetFactory;
use super::factory_error::FactoryError;
use super::isolated::{HostCommand, Isolated};
use super::library::{self, Library};
use super::load_error::LoadError;
use super::manifest::{MANIFEST_SUFFIX, Manifest};
use super::message::PluginInfo;
use super::proxy::Proxy;
use super::wire;
use crate::Target;
use tilewright_target::TargetDescription;

/// How a registry came to know a plugin. Where two serve one architecture, the one that is less in
/// this order wins, and of equals the one that came first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PluginOrigin {
    /// The user named its library.
    Named,
    /// It is linked into this program.
    Linked,
    /// Its manifest was found.
    Discovered,
}

/// A plugin that a registry knows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plugin {
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: String,
    /// Its library; none where it is linked into this program.
    pub file: Option<PathBuf>,
    /// The architectures that it serves.
    pub architectures: Vec<String>,
    /// What makes its code, as its manifest says; nothing where it came without one.
    pub built_with: Vec<String>,
    /// How it came here.
    pub origin: PluginOrigin,
}

/// A candidate that was passed over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RefusedPlugin {
    /// The manifest or directory.
    pub file: PathBuf,
    /// Why, with the file's name and what to do.
    pub reason: String,
}

/// An architecture that more than one plugin serves.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Duplicate {
    /// The architecture.
    pub architecture: String,
    /// The plugin that is asked.
    pub served_by: Plugin,
    /// One that is not.
    pub passed_over: Plugin,
}

/// Why a registry has no target to give.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum RegistryError {
    /// No plugin serves the architecture: one is missing, or was refused.
    #[error(
        "no plugin serves architecture `{architecture}` of target `{target}`; {}; put the directory of a plugin \
         that does in {PATH_VARIABLE}, or name its library{}",
        served(.known), refused(.refusals)
    )]
    NoPlugin {
        /// The target asked for.
        target: String,
        /// Its architecture.
        architecture: String,
        /// The architectures that are served.
        known: Vec<String>,
        /// What was passed over.
        refusals: Vec<RefusedPlugin>,
    },
    /// The plugin that serves the architecture cannot be loaded.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// The plugin made no target.
    #[error("target `{target}`: {error}")]
    Target {
        /// The target asked for.
        target: String,
        /// Why.
        error: FactoryError,
    },
}

fn served(known: &[String]) -> String {
    if known.is_empty() { "no plugin was found".to_owned() } else { format!("served are {}", known.join(", ")) }
}

fn refused(refusals: &[RefusedPlugin]) -> String {
    refusals.iter().map(|refusal| format!("\n  refused: {}", refusal.reason)).collect()
}

/// How an entry's targets are made.
enum Source {
    Linked(Vec<&'static TargetFactory>),
    Opened(Arc<dyn Channel>),
    Manifest { file: PathBuf, manifest: Manifest, opened: Mutex<Option<Arc<dyn Channel>>> },
}

struct Entry {
    plugin: Plugin,
    source: Source,
}

/// Whether libraries are opened in this process or in one of their own.
enum Loading {
    Here,
    Isolated(HostCommand, Duration),
}

/// Knows plugins, linked and loaded, and makes targets with them.
pub struct Registry {
    loading: Loading,
    /// By origin, then in the order in which they came.
    entries: Vec<Entry>,
    refusals: Vec<RefusedPlugin>,
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
    /// A registry that opens libraries in this process; it knows the plugins that are linked in.
    #[must_use]
    pub fn new() -> Self {
        Self::with(Loading::Here)
    }

    /// A registry that serves every library in a process of its own, which `command` starts; a
    /// call that takes longer than `limit` ends that process. Plugins that are linked in are
    /// served here all the same.
    #[must_use]
    pub fn isolated(command: HostCommand, limit: Duration) -> Self {
        Self::with(Loading::Isolated(command, limit))
    }

    fn with(loading: Loading) -> Self {
        let mut linked: BTreeMap<&str, Vec<&'static TargetFactory>> = BTreeMap::new();
        for factory in TargetFactory::all() {
            linked.entry(factory.plugin).or_default().push(factory);
        }
        let entries = linked.into_values().map(|factories| Entry {
            plugin: Plugin {
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

    /// Opens a plugin's library, or the one that a manifest names, before all others.
    ///
    /// # Errors
    /// [`LoadError`]; the registry stays as it was.
    pub fn load(&mut self, file: &Path) -> Result<&Plugin, LoadError> {
        let is_manifest = file.to_string_lossy().ends_with(MANIFEST_SUFFIX);
        let manifest = if is_manifest { Some(Manifest::read(file)?) } else { None };
        let library = manifest.as_ref().map_or_else(|| file.to_owned(), |manifest| manifest.library_beside(file));
        let tables_in_process = manifest.as_ref().is_some_and(|manifest| manifest.tables_in_process);
        let (channel, info) =
            self.open(&library, tables_in_process).inspect_err(|error| discovery::trace(file, &error.to_string()))?;
        let mut built_with = Vec::new();
        if let Some(manifest) = manifest {
            manifest.check_against(file, &info)?;
            built_with = manifest.built_with;
        }
        discovery::trace(file, "loaded");
        let plugin = Plugin {
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

    /// Loads the files and reads the manifests that a discovery lists; opens no library of a
    /// manifest. What was passed over is returned, and named again when a target is missed.
    ///
    /// # Errors
    /// [`LoadError`] of a file that the user named.
    pub fn discover(&mut self, discovery: &Discovery) -> Result<Vec<RefusedPlugin>, LoadError> {
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
            self.refusals.push(RefusedPlugin { file: file.to_owned(), reason });
        }
    }

    fn add_manifest(&mut self, file: &Path) {
        let found = Manifest::read(file)
            .and_then(|manifest| Ok((library::checked_path(&manifest.library_beside(file))?, manifest)));
        let (library, manifest) = match found {
            Ok(found) => found,
            Err(error) => return self.refuse(file, error.to_string()),
        };
        if self.entries.iter().any(|entry| entry.plugin.file.as_ref() == Some(&library)) {
            return discovery::trace(file, "its library is known already");
        }
        discovery::trace(file, "accepted");
        let plugin = Plugin {
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

    /// Inserts an entry after those of the same or an earlier origin.
    fn insert(&mut self, entry: Entry) -> usize {
        let at = self.entries.partition_point(|other| other.plugin.origin <= entry.plugin.origin);
        self.entries.insert(at, entry);
        // Another plugin may serve an architecture from now on.
        self.targets.get_mut().unwrap_or_else(PoisonError::into_inner).clear();
        at
    }

    /// Opens a library, here or in its own process, and asks what it is. A library whose manifest says
    /// `tables_in_process` is opened here as well, for all calls but those that compile or reach a device.
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

    /// Opens the library of a manifest, which must say the same.
    fn open_manifest(&self, file: &Path, manifest: &Manifest) -> Result<Arc<dyn Channel>, LoadError> {
        let (channel, info) = self.open(&manifest.library_beside(file), manifest.tables_in_process)?;
        manifest.check_against(file, &info)?;
        Ok(channel)
    }

    /// The plugins that are known, in the order in which they are asked.
    #[must_use]
    pub fn plugins(&self) -> Vec<&Plugin> {
        self.entries.iter().map(|entry| &entry.plugin).collect()
    }

    /// What was passed over.
    #[must_use]
    pub fn refusals(&self) -> &[RefusedPlugin] {
        &self.refusals
    }

    /// The architectures that more than one plugin serves.
    #[must_use]
    pub fn duplicates(&self) -> Vec<Duplicate> {
        let mut duplicates = Vec::new();
        for entry in &self.entries {
            for architecture in &entry.plugin.architectures {
                match self.serves(architecture) {
                    Some(first) if *first != entry.plugin => duplicates.push(Duplicate {
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

    /// The plugin that serves an architecture.
    #[must_use]
    pub fn serves(&self, architecture: &str) -> Option<&Plugin> {
        self.entry(architecture).map(|entry| &entry.plugin)
    }

    fn entry(&self, architecture: &str) -> Option<&Entry> {
        self.entries.iter().find(|entry| entry.plugin.architectures.iter().any(|name| name == architecture))
    }

    /// The target of a description, made by the plugin that serves its architecture. Asked again,
    /// it is the same.
    ///
    /// # Errors
    /// [`RegistryError`].
    pub fn target(&self, description: &TargetDescription) -> Result<Arc<dyn Target>, RegistryError> {
        let target = self.target_without_table(description)?;
        let failed = |error| RegistryError::Target { target: description.name.clone(), error };
        target.read_instructions().map_err(failed)?;
        Ok(target)
    }

    /// The same target, but its instruction table need not have been read: for layouts, and for
    /// [`Target::instructions_of`].
    ///
    /// # Errors
    /// [`RegistryError`].
    pub fn target_without_table(&self, description: &TargetDescription) -> Result<Arc<dyn Target>, RegistryError> {
        // Held while the target is made, so that it is made once.
        let mut targets = self.targets.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = targets.iter().find(|target| target.description() == description) {
            return Ok(Arc::clone(known));
        }
        let entry = self.entry(&description.architecture).ok_or_else(|| self.nobody_serves(description))?;
        let target = entry.target(self, description)?;
        targets.push(Arc::clone(&target));
        Ok(target)
    }

    fn nobody_serves(&self, description: &TargetDescription) -> RegistryError {
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

/// Asks a plugin what it is.
fn describe(channel: &dyn Channel) -> Result<PluginInfo, LoadError> {
    let broken = |message: String| LoadError::Broken { file: channel.file().to_owned(), message };
    let bytes = channel.call(Call::Describe).map_err(|failure| match failure.code {
        super::host::LOAD_FAILED => LoadError::Isolated(failure.to_string()),
        _ => broken(failure.to_string()),
    })?;
    wire::read(&bytes).map_err(|error| broken(format!("says of itself what cannot be read: {error}")))
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
