//! Manifests of plugins: an error, or a manifest that is written as TOML that is read as the same.

use std::fs;
use std::path::Path;

use tempfile::TempDir;
use tilewright_plugin::{MANIFEST_SUFFIX, Manifest};

thread_local! {
    /// A place for the file, with the library that a manifest may name.
    static PLACE: TempDir = {
        let place = tempfile::tempdir().expect("a folder");
        fs::write(place.path().join("lib.so"), []).expect("a library");
        place
    };
}

/// Checks it.
///
/// # Panics
/// Where it does not hold.
pub fn check(text: &[u8]) {
    PLACE.with(|place| {
        let file = place.path().join(format!("fuzz{MANIFEST_SUFFIX}"));
        if let Some(manifest) = read(&file, text) {
            let written = toml::to_string(&manifest).expect("TOML");
            assert_eq!(read(&file, written.as_bytes()), Some(manifest), "{written}");
        }
    });
}

fn read(file: &Path, text: &[u8]) -> Option<Manifest> {
    fs::write(file, text).expect("a file");
    Manifest::read(file).ok()
}
