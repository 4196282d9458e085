//! The target files (TOML, one GPU model each) of this repository.

use std::ffi::OsStr;
use tilewright_target::{TargetCatalogue, TargetCatalogueError};

/// Environment variable that lists directories with further target files.
pub const SEARCH_PATH: &str = "TILEWRIGHT_TARGET_PATH";

/// File name (with its extension) and text of each built-in target file, sorted by file name.
pub const TARGET_FILES: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/files.rs"));

/// The JSON schema (draft 2020-12) of target files, for editors.
pub const TARGET_FILE_JSON_SCHEMA: &str = include_str!("../target.schema.json");

/// Reads the built-in targets, then those in the directories that [`SEARCH_PATH`] names. A later target replaces an
/// earlier one of the same name.
///
/// # Errors
/// A directory is missing or cannot be read, or a file is invalid.
pub fn read_default_catalogue() -> Result<TargetCatalogue, TargetCatalogueError> {
    read_catalogue_with_search_path(std::env::var_os(SEARCH_PATH).as_deref())
}

/// Reads the same targets as [`read_default_catalogue`], with the given search path in place of the environment
/// variable's value.
///
/// # Errors
/// A directory is missing or cannot be read, or a file is invalid.
pub fn read_catalogue_with_search_path(search_path: Option<&OsStr>) -> Result<TargetCatalogue, TargetCatalogueError> {
    let mut catalogue = TargetCatalogue::default();
    for (file, text) in TARGET_FILES {
        catalogue.add(file, text)?;
    }
    if let Some(value) = search_path {
        catalogue.add_search_path(SEARCH_PATH, value)?;
    }
    Ok(catalogue)
}
