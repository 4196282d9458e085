//! `tilewright-install`: installs headers, libraries, plugins and target files below a prefix.
//!
//!     PREFIX/include/         tilewright.h, tilewright_loader.h, tilewright_plugin.h
//!     PREFIX/lib/             libtilewright.so, libtilewright.a
//!     PREFIX/lib/pkgconfig/   tilewright.pc
//!     PREFIX/lib/cmake/       the package Tilewright
//!     PREFIX/lib/tilewright/  plugins with their manifests and known answers, and the LLVM that they link
//!     PREFIX/share/tilewright/targets/   the target files, for reading and copying; the library embeds them
//!
//! Existing files of the same name are replaced. An installed plugin loads LLVM from the folder that it lies in.

mod package;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Parser;
use thiserror::Error;

/// Installs headers, libraries, plugins and target files below a prefix.
#[derive(Debug, Parser)]
#[command(version, about)]
struct Arguments {
    /// The prefix below which files are installed, such as `/usr/local`
    #[arg(long, value_name = "DIR")]
    prefix: PathBuf,
}

/// Why the installation is incomplete.
#[derive(Debug, Error)]
enum InstallError {
    /// A file cannot be read or written.
    #[error("{}: {source}", .file.display())]
    File { file: PathBuf, source: std::io::Error },
    /// A library or manifest that cargo builds is missing at this path.
    #[error("{} is missing; `cargo run --release --bin tilewright-install` builds it", .0.display())]
    Missing(PathBuf),
    /// The plugin manifest at this path has no key `library`.
    #[error("{}: expected a manifest with a `library`", .0.display())]
    Manifest(PathBuf),
}

fn main() -> ExitCode {
    match install(&Arguments::parse().prefix) {
        Ok(files) => {
            for file in files {
                println!("{}", file.display());
            }
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

const HEADERS: &[(&str, &str)] = &[
    ("tilewright.h", include_str!("../../ffi/include/tilewright.h")),
    ("tilewright_loader.h", include_str!("../../ffi/include/tilewright_loader.h")),
    ("tilewright_plugin.h", include_str!("../../plugin/include/tilewright_plugin.h")),
];

/// File name and soname of the Tilewright library. The number is the major version of the C interface; a program
/// needs the version that it was linked with.
const LIBRARY: &str = "libtilewright.so.1";

/// Installs all files below the prefix; returns the paths of the installed files.
fn install(prefix: &Path) -> Result<Vec<PathBuf>, InstallError> {
    std::fs::create_dir_all(prefix).map_err(|source| InstallError::File { file: prefix.to_owned(), source })?;
    let prefix = &prefix.canonicalize().map_err(|source| InstallError::File { file: prefix.to_owned(), source })?;
    let mut done = Vec::new();
    for (name, text) in HEADERS {
        done.push(write_file(&prefix.join("include").join(name), text.as_bytes())?);
    }
    let built = find_deps_folder()?;
    let libraries = prefix.join("lib");
    done.push(copy(&built.join("libtilewright_c.so"), &libraries.join(LIBRARY))?);
    done.push(copy(&built.join("libtilewright_c.a"), &libraries.join("libtilewright.a"))?);
    done.push(create_symlink(LIBRARY, &libraries.join("libtilewright.so"))?);
    for (file, text) in package::generate_package_config_files(prefix) {
        done.push(write_file(&libraries.join(file), text.as_bytes())?);
    }
    done.extend(copy_plugins(&built, &libraries.join("tilewright"))?);
    for (name, text) in tilewright_targets::TARGET_FILES {
        done.push(write_file(&prefix.join("share/tilewright/targets").join(name), text.as_bytes())?);
    }
    Ok(done)
}

/// Returns the folder `deps` next to this program, where cargo puts the libraries that it builds.
fn find_deps_folder() -> Result<PathBuf, InstallError> {
    let own = std::env::current_exe().map_err(|source| InstallError::File { file: "this program".into(), source })?;
    Ok(own.parent().unwrap_or(Path::new("/")).join("deps"))
}

/// Names of the plugins that are installed, as in `NAME.plugin.toml`.
const PLUGINS: &[&str] = &["amd", "intel", "nvidia"];

fn copy_plugins(built: &Path, folder: &Path) -> Result<Vec<PathBuf>, InstallError> {
    let mut done = Vec::new();
    for name in PLUGINS {
        let manifest = built.join(format!("{name}.plugin.toml"));
        done.push(copy(&manifest, &folder.join(format!("{name}.plugin.toml")))?);
        let library = read_plugin_library_name(&manifest)?;
        done.push(copy(&built.join(&library), &folder.join(&library))?);
        let answers = format!("{name}.answers.jsonl");
        if built.join(&answers).is_file() {
            done.push(copy(&built.join(&answers), &folder.join(&answers))?);
        }
    }
    done.push(copy_llvm_library(folder)?);
    Ok(done)
}

/// Returns the file name of a plugin's library, read from the key `library` of the manifest at this path.
fn read_plugin_library_name(manifest: &Path) -> Result<String, InstallError> {
    let text =
        std::fs::read_to_string(manifest).map_err(|source| InstallError::File { file: manifest.to_owned(), source })?;
    let table: Option<toml::Table> = text.parse().ok();
    let library = table.and_then(|table| Some(table.get("library")?.as_str()?.to_owned()));
    library.ok_or_else(|| InstallError::Manifest(manifest.to_owned()))
}

/// Copies the LLVM library that the plugins link into `folder`, under the name by which they load it; returns the path
/// of the copy.
fn copy_llvm_library(folder: &Path) -> Result<PathBuf, InstallError> {
    let (from, library) = (Path::new(env!("LLVM_FOLDER")), concat!("lib", env!("LLVM_LIBRARY"), ".so"));
    let link_file = from.join(library);
    let error = |source| InstallError::File { file: link_file.clone(), source };
    // The linker opens a symbolic link to the library, or a script `INPUT(FILE)`, which is much shorter than a library.
    let is_script = std::fs::metadata(&link_file).map_err(error)?.len() < 4096;
    let script = if is_script { std::fs::read_to_string(&link_file).map_err(error)? } else { String::new() };
    let named = script.split_once("INPUT(").and_then(|(_, rest)| rest.split([')', ' ']).next());
    let file = named.map_or_else(|| link_file.clone(), |named| from.join(named)).canonicalize().map_err(error)?;
    copy(&file, &folder.join(file.file_name().unwrap_or_default()))
}

fn write_file(file: &Path, bytes: &[u8]) -> Result<PathBuf, InstallError> {
    let error = |source| InstallError::File { file: file.to_owned(), source };
    prepare_destination_file(file)?;
    std::fs::write(file, bytes).map_err(error)?;
    Ok(file.to_owned())
}

fn copy(from: &Path, to: &Path) -> Result<PathBuf, InstallError> {
    if !from.is_file() {
        return Err(InstallError::Missing(from.to_owned()));
    }
    prepare_destination_file(to)?;
    std::fs::copy(from, to).map_err(|source| InstallError::File { file: to.to_owned(), source })?;
    Ok(to.to_owned())
}

fn create_symlink(name: &str, file: &Path) -> Result<PathBuf, InstallError> {
    prepare_destination_file(file)?;
    std::os::unix::fs::symlink(name, file).map_err(|source| InstallError::File { file: file.to_owned(), source })?;
    Ok(file.to_owned())
}

/// Prepares the writing of `file`: creates its folder and removes an existing file, since a library in use must not be
/// overwritten in place.
fn prepare_destination_file(file: &Path) -> Result<(), InstallError> {
    let error = |source| InstallError::File { file: file.to_owned(), source };
    if let Some(folder) = file.parent() {
        std::fs::create_dir_all(folder).map_err(error)?;
    }
    match std::fs::remove_file(file) {
        Err(source) if source.kind() != std::io::ErrorKind::NotFound => Err(error(source)),
        _ => Ok(()),
    }
}
