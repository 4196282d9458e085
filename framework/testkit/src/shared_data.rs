//! The data beside the repository: answers of other compilers, real programs, vendors' tables. Tests find them in the folder
//! `shared` beside the workspace, or in the one that `TILEWRIGHT_SHARED` names.

use std::path::{Path, PathBuf};

/// The folder of the workspace.
pub fn workspace() -> &'static Path {
    let own = Path::new(env!("CARGO_MANIFEST_DIR"));
    own.ancestors().nth(2).expect("this crate is two folders below the workspace")
}

/// Where a file or folder of the data is, on machines that have them.
pub fn path(inside: &str) -> PathBuf {
    let named = std::env::var_os("TILEWRIGHT_SHARED").filter(|name| !name.is_empty());
    named.map_or_else(|| workspace().join("../shared"), PathBuf::from).join(inside)
}

/// The text of a file of the data, for tests that need it.
pub fn text(inside: &str) -> String {
    let file = path(inside);
    std::fs::read_to_string(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()))
}
