//! Finds the LLVM shared library, prints its link arguments, and passes its directory to dependents.
//!
//! The Rust toolchain ships such a library, so a fresh machine needs nothing else. `TILEWRIGHT_LLVM_LIB_DIR` selects
//! the directory of another LLVM of the same major version. Cargo applies link arguments only to the package whose
//! build script prints them. So crates that link a program or shared library read `DEP_TILEWRIGHT_LLVM_LIBDIR` and add
//! their own run paths.

use std::path::{Path, PathBuf};
use std::process::Command;

/// Major version of LLVM whose C interface the `inkwell` feature in `Cargo.toml` declares.
const MAJOR: &str = "22";
const OVERRIDE: &str = "TILEWRIGHT_LLVM_LIB_DIR";

fn main() {
    println!("cargo:rerun-if-env-changed={OVERRIDE}");
    println!("cargo:rerun-if-env-changed=RUSTC");
    println!("cargo:rerun-if-changed=build.rs");
    match find() {
        Ok((directory, library)) => {
            println!("cargo:rustc-link-search=native={}", directory.display());
            println!("cargo:rustc-link-lib=dylib={library}");
            println!("cargo:rustc-link-arg=-Wl,-rpath,{}", directory.display());
            println!("cargo:libdir={}", directory.display());
            println!("cargo:library={library}");
        }
        Err(message) => {
            eprintln!("error: {message}");
            std::process::exit(1);
        }
    }
}

/// Returns the directory of the LLVM library to use, and its name for the linker, such as `LLVM-22`.
fn find() -> Result<(PathBuf, String), String> {
    let directory = match std::env::var_os(OVERRIDE) {
        Some(directory) => PathBuf::from(directory),
        None => toolchain_libraries()?,
    };
    let names = library_names(&directory)?;
    let required = names.iter().find(|name| major(name).as_deref() == Some(MAJOR));
    match required {
        Some(name) => Ok((directory, name.clone())),
        None => Err(format!(
            "no LLVM {MAJOR} shared library in {} (found: {}). Build with the toolchain that rust-toolchain.toml \
             pins, or set {OVERRIDE} to the directory of a libLLVM of major version {MAJOR}",
            directory.display(),
            if names.is_empty() { "none".to_owned() } else { names.join(", ") },
        )),
    }
}

fn toolchain_libraries() -> Result<PathBuf, String> {
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let output = Command::new(&rustc).args(["--print", "sysroot"]).output();
    let output = output.map_err(|error| format!("cannot run {}: {error}", rustc.display()))?;
    let sysroot = String::from_utf8_lossy(&output.stdout);
    Ok(Path::new(sysroot.trim()).join("lib"))
}

/// Returns the linker names (such as `LLVM-22`) of the files `libLLVM-*.so` in a directory, sorted.
fn library_names(directory: &Path) -> Result<Vec<String>, String> {
    let entries =
        std::fs::read_dir(directory).map_err(|error| format!("cannot read {}: {error}", directory.display()))?;
    let mut names = Vec::new();
    for entry in entries.flatten() {
        let file = entry.file_name().to_string_lossy().into_owned();
        if let Some(name) = file.strip_prefix("lib").and_then(|f| f.strip_suffix(".so"))
            && name.starts_with("LLVM-")
        {
            names.push(name.to_owned());
        }
    }
    names.sort();
    Ok(names)
}

fn major(name: &str) -> Option<String> {
    let digits: String = name.strip_prefix("LLVM-")?.chars().take_while(char::is_ascii_digit).collect();
    (!digits.is_empty()).then_some(digits)
}
