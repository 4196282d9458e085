//! The target files of this folder, embedded in the library, and target files of users.
//!
//! Each `*.toml` file of the folder is one GPU model; `docs/targets.md` describes the format. A build script lists
//! them, so that adding a GPU model is adding a file.

mod files;

pub use files::{FILES, SCHEMA, SEARCH_PATH, catalogue, catalogue_with};
