//! Finds the test data outside of the repository: answers of other compilers, real programs, vendors' tables.
//!
//! The data lies in the folder `shared` next to the workspace, or in the folder that `TILEWRIGHT_SHARED` names.

use std::path::{Path, PathBuf};

/// Returns the root folder of the workspace.
pub fn workspace() -> &'static Path {
    let own = Path::new(env!("CARGO_MANIFEST_DIR"));
    own.ancestors().nth(2).expect("this crate is two folders below the workspace")
}

/// Returns the path of a file or folder of the test data, whether it exists or not. `inside` is its path in the data's
/// folder.
pub fn path(inside: &str) -> PathBuf {
    let named = std::env::var_os("TILEWRIGHT_SHARED").filter(|name| !name.is_empty());
    named.map_or_else(|| workspace().join("../shared"), PathBuf::from).join(inside)
}

/// Returns the text of a file of the test data, by its path in the data's folder; panics if it cannot be read.
pub fn text(inside: &str) -> String {
    let file = path(inside);
    std::fs::read_to_string(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()))
}
