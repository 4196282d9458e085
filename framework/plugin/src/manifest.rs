//! The manifest next to a plugin's library, which allows listing plugins without opening them.
//!
//! `NAME.plugin.toml`:
//!
//! ```toml
//! name = "acme"
//! version = "0.1.0"
//! library = "libacme_plugin.so"      # relative to this file
//! abi_major = 1
//! abi_minor = 0
//! architectures = ["acme1", "acme2"]
//! built_with = ["acmecc 4"]           # for people; may be left out
//! tables_in_process = true            # may be left out: false
//! ```

use std::collections::BTreeSet;
use std::fs::{self, Metadata};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::abi::ABI_MAJOR;
use super::load_error::LoadError;
use super::message::PluginInfo;

/// Suffix of manifests' file names.
pub const MANIFEST_SUFFIX: &str = ".plugin.toml";

/// Max size of a manifest in bytes.
const MAX_MANIFEST_BYTES: u64 = 1 << 20;

/// The content of a plugin's manifest. Unknown keys, of later versions, are skipped.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PluginManifest {
    /// Name of the plugin: one word, e.g. `acme`.
    pub name: String,
    /// Version of the plugin, e.g. `0.1.0`.
    pub version: String,
    /// The path of the plugin's library, relative to the manifest.
    pub library: PathBuf,
    /// Major version of the interface that the plugin implements.
    pub abi_major: u32,
    /// Minor version of the interface that the plugin implements.
    pub abi_minor: u32,
    /// The names of the architectures that the plugin serves.
    pub architectures: Vec<String>,
    /// The tools that generate the plugin's code, by name and version, such as a compiler's library; for people.
    #[serde(default)]
    pub built_with: Vec<String>,
    /// Whether a host that isolates plugins may read the plugin's families and instructions in its own process. The
    /// author guarantees that doing so starts no code generator and neither aborts nor hangs.
    #[serde(default)]
    pub tables_in_process: bool,
}

impl PluginManifest {
    /// Reads a manifest and checks that the library it names exists; does not open the library.
    ///
    /// # Errors
    /// [`LoadError::WorldWritable`] if every user may write the manifest, [`LoadError::Version`] if the plugin has
    /// another major version of the interface, [`LoadError::Manifest`] if the manifest is malformed or the library does
    /// not exist.
    pub fn read(file: &Path) -> Result<Self, LoadError> {
        let wrong = |message: String| LoadError::Manifest { file: file.to_owned(), message };
        let metadata = fs::metadata(file).map_err(|error| wrong(format!("cannot be read: {error}")))?;
        if world_writable(&metadata) {
            return Err(LoadError::WorldWritable { file: file.to_owned() });
        }
        if metadata.len() > MAX_MANIFEST_BYTES {
            return Err(wrong(format!("is not a manifest: {} bytes long", metadata.len())));
        }
        let text = fs::read_to_string(file).map_err(|error| wrong(format!("cannot be read: {error}")))?;
        let manifest: Self = toml::from_str(&text).map_err(|error| {
            wrong(format!(
                "is not a plugin manifest: {}; build or install the plugin again",
                error.to_string().trim_end()
            ))
        })?;
        manifest.check(file)?;
        Ok(manifest)
    }

    /// Returns the path of the library that this manifest, whose path is `file`, names.
    #[must_use]
    pub fn library_path(&self, file: &Path) -> PathBuf {
        file.parent().unwrap_or(Path::new("")).join(&self.library)
    }

    fn check(&self, file: &Path) -> Result<(), LoadError> {
        let wrong = |message: &str| Err(LoadError::Manifest { file: file.to_owned(), message: message.to_owned() });
        if self.abi_major != ABI_MAJOR {
            return Err(LoadError::Version { file: file.to_owned(), found: Some(self.abi_major) });
        }
        if self.name.is_empty() || self.architectures.is_empty() {
            return wrong("names no plugin or no architectures; build or install the plugin again");
        }
        if !self.library.is_relative() {
            return wrong("`library` must be relative to the manifest");
        }
        let library = self.library_path(file);
        if library.is_file() {
            return Ok(());
        }
        let message = format!(
            "names the library {}, which does not exist; build or install the plugin again, or delete the manifest",
            library.display()
        );
        wrong(&message)
    }

    /// Checks the manifest against what its library reports about itself.
    pub(super) fn check_against(&self, file: &Path, info: &PluginInfo) -> Result<(), LoadError> {
        let set = |names: &[String]| names.iter().cloned().collect::<BTreeSet<_>>();
        let same = self.name == info.name
            && self.version == info.version
            && set(&self.architectures) == set(&info.architectures);
        if same {
            return Ok(());
        }
        let message = format!(
            "names {} {} for {}, but its library names {} {} for {}; build or install the plugin again",
            self.name,
            self.version,
            self.architectures.join(", "),
            info.name,
            info.version,
            info.architectures.join(", "),
        );
        Err(LoadError::Manifest { file: file.to_owned(), message })
    }
}

/// Whether a file is world-writable.
#[cfg(unix)]
pub(super) fn world_writable(metadata: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    metadata.mode() & 0o002 != 0
}
