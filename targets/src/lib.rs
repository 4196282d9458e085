//! The target files of this folder, carried in the library, and those that users add.
//!
//! Each `*.toml` file of the folder is one GPU product; `docs/targets.md` describes the format. A
//! build script lists them, so that adding a product is adding a file.

mod files;

pub use files::{FILES, SCHEMA, SEARCH_PATH, catalogue, catalogue_with};
