//! The source tree of the workspace, and cargo's answers about it.

use std::path::{Path, PathBuf};
use std::process::Command;

/// Returns the root folder of the source tree.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the source tree")
}

/// Runs cargo in the root folder and returns its standard output. Cargo's unstable options are allowed.
///
/// # Panics
/// If cargo fails.
pub fn cargo(arguments: &[&str]) -> String {
    let mut command = Command::new(env!("CARGO"));
    let output = command.current_dir(root()).env("RUSTC_BOOTSTRAP", "1").args(arguments).output().expect("cargo");
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("UTF-8")
}
