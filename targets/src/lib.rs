//! The target files of this folder, embedded in the library, and target files of users.
//!
//! Each `*.toml` file of the folder is one GPU model; `docs/targets.md` describes the format. A build script lists
//! them, so that adding a GPU model is adding a file.

mod files;

pub use files::{
    SEARCH_PATH, TARGET_FILE_JSON_SCHEMA, TARGET_FILES, read_catalogue_with_search_path, read_default_catalogue,
};
