//! The known targets by name: built-in files and files from directories.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::Path;

use thiserror::Error;
use tilewright_layout::find_similar_name;

use super::{TargetDescription, TargetFileError};

/// The known target descriptions by target name.
#[derive(Debug, Clone, Default)]
pub struct TargetCatalogue {
    targets: BTreeMap<String, TargetDescription>,
}

/// The reason why a catalogue cannot be read or lacks a target.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum TargetCatalogueError {
    /// A target file is invalid.
    #[error(transparent)]
    File(#[from] TargetFileError),
    /// A file or directory cannot be read.
    #[error("cannot read {path}: {error}")]
    Unreadable {
        /// Path of the file or directory.
        path: String,
        /// The reason why it cannot be read.
        error: std::io::Error,
    },
    /// A directory of a search path cannot be added.
    #[error("in {variable}: {error}")]
    SearchPath {
        /// The environment variable that names the directories.
        variable: String,
        /// The reason why the directory cannot be added.
        error: Box<TargetCatalogueError>,
    },
    /// No target in the catalogue has this name.
    #[error("unknown target `{name}`{}; known are {}", suggestion(.name, .known), .known.join(", "))]
    Unknown {
        /// The requested target name.
        name: String,
        /// Names of all targets in the catalogue, for the error message.
        known: Vec<String>,
    },
}

fn suggestion(name: &str, known: &[String]) -> String {
    let near = find_similar_name(name, known.iter().map(String::as_str));
    near.map_or_else(String::new, |near| format!(" (did you mean `{near}`?)"))
}

impl TargetCatalogue {
    /// Adds the target that the text of a target file describes; it replaces a target of the same name. `file` is the
    /// file's name for error messages.
    ///
    /// # Errors
    /// [`TargetFileError`] if the text is no valid target file.
    pub fn add(&mut self, file: &str, text: &str) -> Result<(), TargetFileError> {
        let target = TargetDescription::from_toml(file, text)?;
        self.targets.insert(target.name.clone(), target);
        Ok(())
    }

    /// Adds all `*.toml` files of a directory, in the order of their names. A file must have its target's name, so that
    /// a renamed copy with the old name inside is reported and replaces nothing.
    ///
    /// # Errors
    /// [`TargetCatalogueError::Unreadable`] if the directory or a file cannot be read, [`TargetCatalogueError::File`]
    /// if a file is invalid or has another name than its target.
    pub fn add_directory(&mut self, directory: &Path) -> Result<(), TargetCatalogueError> {
        let unreadable =
            |path: &Path, error| TargetCatalogueError::Unreadable { path: path.display().to_string(), error };
        let entries = std::fs::read_dir(directory).map_err(|error| unreadable(directory, error))?;
        let mut files = Vec::new();
        for entry in entries {
            files.push(entry.map_err(|error| unreadable(directory, error))?.path());
        }
        files.retain(|path| path.extension().is_some_and(|extension| extension == "toml"));
        files.sort();
        for path in files {
            let text = std::fs::read_to_string(&path).map_err(|error| unreadable(&path, error))?;
            let stem = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
            let target = TargetDescription::from_named_toml(&path.display().to_string(), &text, &stem)?;
            self.targets.insert(target.name.clone(), target);
        }
        Ok(())
    }

    /// Adds the target files in the directories that `value`, the value of the environment variable `variable`, lists
    /// as `PATH` does. A target from a later directory replaces an earlier one of the same name. Empty entries are
    /// skipped.
    ///
    /// # Errors
    /// [`TargetCatalogueError::SearchPath`] if a directory cannot be added.
    pub fn add_search_path(&mut self, variable: &str, value: &OsStr) -> Result<(), TargetCatalogueError> {
        for directory in std::env::split_paths(value).filter(|directory| !directory.as_os_str().is_empty()) {
            self.add_directory(&directory).map_err(|error| TargetCatalogueError::SearchPath {
                variable: variable.to_owned(),
                error: Box::new(error),
            })?;
        }
        Ok(())
    }

    /// Finds the target named `name`, or else the first target, in order of names, that has `name` as an alias.
    ///
    /// # Errors
    /// [`TargetCatalogueError::Unknown`], with the nearest name and all known ones.
    pub fn get(&self, name: &str) -> Result<&TargetDescription, TargetCatalogueError> {
        let known = || self.targets.keys().cloned().collect();
        let alias = || self.iter().find(|target| target.aliases.iter().any(|alias| alias == name));
        self.targets
            .get(name)
            .or_else(alias)
            .ok_or_else(|| TargetCatalogueError::Unknown { name: name.to_owned(), known: known() })
    }

    /// Iterates over all targets, in ascending order of their names.
    pub fn iter(&self) -> impl Iterator<Item = &TargetDescription> {
        self.targets.values()
    }
}
