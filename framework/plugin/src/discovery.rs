//! The search for plugins in files and directories.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use super::manifest::MANIFEST_SUFFIX;

/// Environment variable with a list of plugin directories, separated as in `PATH`.
pub const PATH_VARIABLE: &str = "TILEWRIGHT_PLUGIN_PATH";

/// Environment variable that, if set and not `0`, prints every rejected candidate and the reason to standard error.
pub const DEBUG_VARIABLE: &str = "TILEWRIGHT_PLUGIN_DEBUG";

/// The files and directories that are searched for plugins, in order of precedence.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PluginSearchPath {
    /// Libraries or manifests that the user named; one that cannot be loaded is an error.
    pub files: Vec<PathBuf>,
    /// Directories with manifests; one that cannot be used is skipped and reported.
    pub directories: Vec<PathBuf>,
}

impl PluginSearchPath {
    /// Returns the default search path of a program, which never has the working directory: the directories of
    /// [`PATH_VARIABLE`]; the executable's directory, its `deps`, and the sibling `deps`, for libraries built by cargo;
    /// then the sibling `lib/tilewright`, for installed plugins.
    #[must_use]
    pub fn default_search() -> Self {
        let variable = env::var_os(PATH_VARIABLE).unwrap_or_default();
        let mut directories: Vec<_> = env::split_paths(&variable).filter(|path| !path.as_os_str().is_empty()).collect();
        if let Some(own) = env::current_exe().ok().as_deref().and_then(Path::parent) {
            let beside = own.parent().unwrap_or(own);
            let candidates = [own.to_owned(), own.join("deps"), beside.join("deps"), beside.join("lib/tilewright")];
            directories.extend(candidates.into_iter().filter(|path| path.is_dir()));
        }
        Self { files: Vec::new(), directories }
    }

    /// Returns the search path with one more file that the user named.
    #[must_use]
    pub fn with_file(mut self, file: impl Into<PathBuf>) -> Self {
        self.files.push(file.into());
        self
    }
}

/// Returns the manifests in a directory in order of name, or the reason why the directory cannot be used.
pub(super) fn manifests_in(directory: &Path) -> Result<Vec<PathBuf>, String> {
    if !directory.is_absolute() {
        return Err(
            "is relative, and plugins are never searched for in the working directory; give the full path".to_owned()
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

/// Whether [`DEBUG_VARIABLE`] requests debug output.
pub(super) fn debugging() -> bool {
    env::var_os(DEBUG_VARIABLE).is_some_and(|value| !value.is_empty() && value != "0")
}

/// Prints `what`, which happened to a candidate plugin, to standard error, if [`DEBUG_VARIABLE`] requests debug output.
pub(super) fn trace(candidate: &Path, what: &str) {
    if debugging() {
        eprintln!("plugin candidate {}: {what}", candidate.display());
    }
}
