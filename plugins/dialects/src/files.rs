//! The dialect files of vendors.

use tilewright_tile::import::Imports;
use tilewright_tile::op::Dialects;

/// The names and texts of the dialect files.
pub const FILES: &[(&str, &str)] = &[
    ("amdg.toml", include_str!("../amdg.toml")),
    ("rocdl.toml", include_str!("../rocdl.toml")),
    ("ttng.toml", include_str!("../ttng.toml")),
];

/// The neutral dialects and those of all vendors.
///
/// # Panics
/// Never: the tests read every file, which are part of the library.
#[must_use]
pub fn all() -> Dialects {
    let mut dialects = Dialects::neutral();
    for (file, text) in FILES {
        if let Err(error) = dialects.add(file, text) {
            panic!("{error}");
        }
    }
    dialects
}

/// The names and texts of the import tables.
pub const IMPORTS: &[(&str, &str)] = &[
    ("amdg.toml", include_str!("../imports/amdg.toml")),
    ("imf.toml", include_str!("../imports/imf.toml")),
    ("libdevice.toml", include_str!("../imports/libdevice.toml")),
    ("ocml.toml", include_str!("../imports/ocml.toml")),
    ("ttng.toml", include_str!("../imports/ttng.toml")),
];

/// What the words of all vendors mean in neutral ones.
///
/// # Panics
/// Never: the tests read every table, which are part of the library.
#[must_use]
pub fn imports() -> Imports {
    let mut imports = Imports::default();
    for (file, text) in IMPORTS {
        if let Err(error) = imports.add(file, text) {
            panic!("{error}");
        }
    }
    imports
}
