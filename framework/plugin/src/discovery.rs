//! Where plugins are looked for.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use super::manifest::MANIFEST_SUFFIX;

/// Environment variable with directories of plugins, separated as in `PATH`.
pub const PATH_VARIABLE: &str = "TILEWRIGHT_PLUGIN_PATH";

/// Environment variable that, when set and not `0`, has every candidate printed to standard error
/// with why it was refused.
pub const DEBUG_VARIABLE: &str = "TILEWRIGHT_PLUGIN_DEBUG";

/// Files and directories of plugins, in the order in which they are asked.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Discovery {
    /// Libraries or manifests that the user named; one that cannot be loaded is an error.
    pub files: Vec<PathBuf>,
    /// Directories with manifests; one that cannot be used is passed over and reported.
    pub directories: Vec<PathBuf>,
}

impl Discovery {
    /// What a program looks through unless told otherwise: the directories of
    /// [`PATH_VARIABLE`], then that of the executable, its `deps`, and the `deps` beside it, where
    /// cargo puts libraries, then `lib/tilewright` beside it, where an installation puts plugins. Never the working directory.
    #[must_use]
    pub fn standard() -> Self {
        let variable = env::var_os(PATH_VARIABLE).unwrap_or_default();
        let mut directories: Vec<_> = env::split_paths(&variable).filter(|path| !path.as_os_str().is_empty()).collect();
        if let Some(own) = env::current_exe().ok().as_deref().and_then(Path::parent) {
            let beside = own.parent().unwrap_or(own);
            let candidates = [own.to_owned(), own.join("deps"), beside.join("deps"), beside.join("lib/tilewright")];
            directories.extend(candidates.into_iter().filter(|path| path.is_dir()));
        }
        Self { files: Vec::new(), directories }
    }

    /// With one more file that the user named.
    #[must_use]
    pub fn file(mut self, file: impl Into<PathBuf>) -> Self {
        self.files.push(file.into());
        self
    }
}

/// The manifests of a directory by name, or why it cannot be used.
pub(super) fn manifests_in(directory: &Path) -> Result<Vec<PathBuf>, String> {
    if !directory.is_absolute() {
        return Err(
            "is relative, and plugins are never looked for in the working directory; give the full path".to_owned()
        );
    }
    let entries = fs::read_dir(directory).map_err(|error| format!("cannot be read: {error}"))?;
    let mut files: Vec<_> = entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.file_name().is_some_and(|name| name.to_string_lossy().ends_with(MANIFEST_SUFFIX)))
        .collect();
    files.sort();
    Ok(files)
}

/// Whether [`DEBUG_VARIABLE`] asks for it.
pub(super) fn debugging() -> bool {
    env::var_os(DEBUG_VARIABLE).is_some_and(|value| !value.is_empty() && value != "0")
}

/// Prints what happened to a candidate where [`DEBUG_VARIABLE`] asks for it.
pub(super) fn trace(candidate: &Path, what: &str) {
    if debugging() {
        eprintln!("plugin candidate {}: {what}", candidate.display());
    }
}
