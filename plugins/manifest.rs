// Shared part of the build scripts of the plugin crates, which write a plugin's manifest next to its shared library.
//
// A build script includes this file, `architectures.rs` of its library crate and the framework's `plugin/version.rs`,
// so that the manifest states the constants that are compiled into the library.

use std::path::{Path, PathBuf};

/// Writes the manifest `NAME.plugin.toml` to the directory of the shared library. `abi` is the version of the plugin
/// interface (major, minor).
pub fn write(name: &str, abi: (u32, u32), architectures: &[&str]) {
    let version = std::env::var("CARGO_PKG_VERSION").unwrap_or_default();
    let list = |words: &[&str]| words.iter().map(|word| format!("\"{word}\"")).collect::<Vec<_>>().join(", ");
    let llvm = std::env::var("DEP_TILEWRIGHT_LLVM_LIBRARY").ok();
    let built_with: Vec<_> = llvm.as_deref().into_iter().collect();
    let text = format!(
        "name = \"{name}\"\nversion = \"{version}\"\nlibrary = \"{}\"\nabi_major = {}\nabi_minor = {}\narchitectures = [{}]\n\
         built_with = [{}]\ntables_in_process = true\n",
        library_file(name),
        abi.0,
        abi.1,
        list(architectures),
        list(&built_with),
    );
    let file = libraries().join(format!("{name}.plugin.toml"));
    if let Err(error) = write_as_old(&file, &text) {
        eprintln!("error: cannot write the manifest {}: {error}", file.display());
        std::process::exit(1);
    }
    println!("cargo:rerun-if-changed={}", file.display());
}

/// Concatenates `files`, which have known answers about the plugin's layout families, to `NAME.answers.jsonl` next to
/// the shared library, where conformance suites look for it.
#[allow(dead_code)] // Not every plugin has such answers.
pub fn bring_answers(name: &str, files: &[&str]) {
    let beside = libraries().join(format!("{name}.answers.jsonl"));
    let texts: std::io::Result<Vec<String>> = files.iter().map(std::fs::read_to_string).collect();
    if let Err(error) = texts.and_then(|texts| write_as_old(&beside, &texts.concat())) {
        eprintln!("error: cannot copy the known answers {files:?} to {}: {error}", beside.display());
        std::process::exit(1);
    }
    files.iter().for_each(|file| println!("cargo:rerun-if-changed={file}"));
    println!("cargo:rerun-if-changed={}", beside.display());
}

/// Writes a file and sets its modification time to 1970. Otherwise the file would be younger than the build script's
/// last run, and cargo would run the script again in every build.
fn write_as_old(file: &Path, text: &str) -> std::io::Result<()> {
    std::fs::write(file, text)?;
    std::fs::File::options().write(true).open(file)?.set_modified(std::time::SystemTime::UNIX_EPOCH)
}

/// Returns the file name that cargo gives the plugin's shared library on this platform.
fn library_file(name: &str) -> String {
    let prefix = std::env::consts::DLL_PREFIX;
    let suffix = std::env::consts::DLL_SUFFIX;
    format!("{prefix}tilewright_{name}_plugin{suffix}")
}

/// Returns the directory of the shared library, as cargo chooses it: `deps` in the directory of the build profile.
/// `OUT_DIR` of this script is `build/PACKAGE/out` there.
fn libraries() -> PathBuf {
    let out = PathBuf::from(std::env::var_os("OUT_DIR").unwrap_or_default());
    out.ancestors().nth(3).unwrap_or(Path::new(".")).join("deps")
}
