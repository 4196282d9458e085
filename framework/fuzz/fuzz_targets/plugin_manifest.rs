//! Manifests of plugins: a manifest or an error.
#![no_main]

use std::path::PathBuf;
use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use tilewright::plugin::Manifest;

/// A place for the file, with the library that a manifest may name.
static FILE: LazyLock<PathBuf> = LazyLock::new(|| {
    let directory = tempfile::tempdir().expect("a directory").keep();
    std::fs::write(directory.join("lib.so"), []).expect("a library");
    directory.join("fuzz.plugin.toml")
});

fuzz_target!(|text: &[u8]| {
    std::fs::write(&*FILE, text).expect("a file");
    let _ = Manifest::read(&FILE);
});
