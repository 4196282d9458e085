//! The file beside a plugin's library that says what it serves, so that listing opens nothing.
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

/// How the names of manifests end.
pub const MANIFEST_SUFFIX: &str = ".plugin.toml";

/// No manifest is longer, in bytes.
const MAX_MANIFEST_BYTES: u64 = 1 << 20;

/// What a manifest says. Keys of later versions are skipped.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    /// Name of the plugin.
    pub name: String,
    /// Version of the plugin.
    pub version: String,
    /// The library, relative to the manifest.
    pub library: PathBuf,
    /// Major version of the interface that the plugin is for.
    pub abi_major: u32,
    /// Its minor version.
    pub abi_minor: u32,
    /// The architectures served.
    pub architectures: Vec<String>,
    /// What makes its code, by name and version, such as a compiler's library; for people.
    #[serde(default)]
    pub built_with: Vec<String>,
    /// Its author answers for families and instructions: giving them starts no code generator, neither aborts nor hangs,
    /// so that a host that isolates plugins need not isolate these calls.
    #[serde(default)]
    pub tables_in_process: bool,
}

impl Manifest {
    /// Reads a manifest and checks that its library is there; opens no library.
    ///
    /// # Errors
    /// [`LoadError`] that names the manifest or the library.
    pub fn read(file: &Path) -> Result<Self, LoadError> {
        let wrong = |message: String| LoadError::Manifest { file: file.to_owned(), message };
        let metadata = fs::metadata(file).map_err(|error| wrong(format!("cannot be read: {error}")))?;
        if world_writable(&metadata) {
            return Err(LoadError::WorldWritable { file: file.to_owned() });
        }
        if metadata.len() > MAX_MANIFEST_BYTES {
            return Err(wrong(format!("is no manifest: {} bytes long", metadata.len())));
        }
        let text = fs::read_to_string(file).map_err(|error| wrong(format!("cannot be read: {error}")))?;
        let manifest: Self = toml::from_str(&text).map_err(|error| {
            wrong(format!(
                "is no manifest of a plugin: {}; build or install the plugin again",
                error.to_string().trim_end()
            ))
        })?;
        manifest.check(file)?;
        Ok(manifest)
    }

    /// The library of the manifest at `file`.
    #[must_use]
    pub fn library_beside(&self, file: &Path) -> PathBuf {
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
        let library = self.library_beside(file);
        if library.is_file() {
            return Ok(());
        }
        let message = format!(
            "names the library {}, which is not there; build or install the plugin again, or delete the manifest",
            library.display()
        );
        wrong(&message)
    }

    /// Checks what the manifest says against what its library says.
    pub(super) fn check_against(&self, file: &Path, info: &PluginInfo) -> Result<(), LoadError> {
        let set = |names: &[String]| names.iter().cloned().collect::<BTreeSet<_>>();
        let same = self.name == info.name
            && self.version == info.version
            && set(&self.architectures) == set(&info.architectures);
        if same {
            return Ok(());
        }
        let message = format!(
            "says {} {} for {}, and its library says {} {} for {}; build or install the plugin again",
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

/// Whether everybody may write to a file.
#[cfg(unix)]
pub(super) fn world_writable(metadata: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    metadata.mode() & 0o002 != 0
}
