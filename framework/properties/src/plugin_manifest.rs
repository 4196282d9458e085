//! Property of plugin manifests: reading gives an error, or a manifest that round-trips through TOML.

use std::fs;
use std::path::Path;

use tempfile::TempDir;
use tilewright_plugin::{MANIFEST_SUFFIX, PluginManifest};

thread_local! {
    /// A temporary folder for the manifest file that [`check`] writes. It contains an empty file `lib.so`, which a
    /// manifest may name as its library.
    static DIRECTORY: TempDir = {
        let directory = tempfile::tempdir().expect("a folder");
        fs::write(directory.path().join("lib.so"), []).expect("a library");
        directory
    };
}

/// Reads one input as a plugin manifest; a manifest that is read, written as TOML and read again, must be equal.
///
/// # Panics
/// If the property does not hold for `text`.
pub fn check(text: &[u8]) {
    DIRECTORY.with(|directory| {
        let file = directory.path().join(format!("fuzz{MANIFEST_SUFFIX}"));
        if let Some(manifest) = read(&file, text) {
            let written = toml::to_string(&manifest).expect("TOML");
            assert_eq!(read(&file, written.as_bytes()), Some(manifest), "{written}");
        }
    });
}

fn read(file: &Path, text: &[u8]) -> Option<PluginManifest> {
    fs::write(file, text).expect("a file");
    PluginManifest::read(file).ok()
}
