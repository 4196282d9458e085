//! Runs the tests of the Python package, which need a Python with pytest, numpy and Triton.
//!
//! The package is laid out as a wheel installs it: its modules, the native module that cargo built, and the entry point
//! by which Triton finds the backend.

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use tilewright_testkit::external::{self, ExternalTest, Need};

/// The environment variable with the path of the Python interpreter that runs the tests.
const VARIABLE: &str = "TILEWRIGHT_TEST_PYTHON";

fn main() -> ExitCode {
    let tests = ["layouts", "programs", "triton", "faults", "gluon", "examples"].map(|name| {
        ExternalTest::new(&format!("package::{name}"), [python(), native()], move || run(&format!("test_{name}.py")))
    });
    let mut tests = Vec::from(tests);
    let needs = [python(), native(), generator(), Need::program("cc")];
    tests.push(ExternalTest::new("package::replacement", needs, || run("test_replacement.py")));
    external::run(env!("CARGO_PKG_NAME"), tests)
}

/// Returns the folder of the plugins that cargo built.
fn plugins() -> PathBuf {
    let own = std::env::current_exe().expect("this program");
    own.ancestors().nth(2).expect("the folder of the profile").to_owned()
}

/// Returns the path of the package's native module, which cargo built.
fn native_module() -> PathBuf {
    plugins().join("deps/libtilewright_native.so")
}

/// Requires the native module, which `cargo test` does not build.
fn native() -> Need {
    Need::of(
        "the native module",
        (!native_module().is_file()).then(|| "`cargo build --workspace` builds it".to_owned()),
    )
}

/// Requires the code generator for NVIDIA, a plugin that cargo builds with the workspace.
fn generator() -> Need {
    let library = plugins().join("libtilewright_nvidia_plugin.so");
    Need::of("the plugin for NVIDIA", (!library.is_file()).then(|| format!("{} is not built", library.display())))
}

/// Requires a Python that has what the tests import.
fn python() -> Need {
    let missing = match std::env::var_os(VARIABLE) {
        None => Some(format!("{VARIABLE} names no Python")),
        Some(python) => {
            let imported = Command::new(python).args(["-c", "import pytest, numpy, triton"]).output();
            match imported {
                Ok(output) if output.status.success() => None,
                Ok(output) => {
                    Some(String::from_utf8_lossy(&output.stderr).lines().last().unwrap_or("it fails").to_owned())
                }
                Err(error) => Some(error.to_string()),
            }
        }
    };
    Need::of("Python with pytest, numpy and triton", missing)
}

fn run(file: &str) {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    let installed = installed(package, file);
    let python = std::env::var_os(VARIABLE).expect("checked by the need");
    let output = Command::new(python)
        .args(["-m", "pytest", "-q", "-p", "no:cacheprovider"])
        .arg(package.join("tests").join(file))
        .env("PYTHONPATH", &installed)
        .env("TRITON_CACHE_DIR", installed.join("cache"))
        .env("TILEWRIGHT_PLUGIN_PATH", plugins())
        .env_remove("TRITON_DEFAULT_BACKEND")
        .output()
        .expect("Python");
    let text = [output.stdout, output.stderr].map(|text| String::from_utf8_lossy(&text).into_owned()).concat();
    assert!(output.status.success() && text.contains(" passed"), "{text}");
}

/// Installs the package in a separate folder for the test `test`; returns the folder.
fn installed(package: &Path, test: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(test);
    let _ = std::fs::remove_dir_all(&folder);
    copy(&package.join("package"), &folder);
    std::fs::copy(native_module(), folder.join("tilewright/_native.abi3.so")).expect("the native module");
    let metadata = folder.join(format!("tilewright-{}.dist-info", env!("CARGO_PKG_VERSION")));
    std::fs::create_dir_all(&metadata).expect("a folder");
    let name = format!("Metadata-Version: 2.1\nName: tilewright\nVersion: {}\n", env!("CARGO_PKG_VERSION"));
    std::fs::write(metadata.join("METADATA"), name).expect("its metadata");
    let project: toml::Table =
        std::fs::read_to_string(package.join("pyproject.toml")).expect("the project").parse().expect("TOML");
    let entries = project["project"]["entry-points"].as_table().expect("its entry points");
    let lines = entries.iter().flat_map(|(group, entries)| {
        let entries = entries.as_table().into_iter().flatten();
        let entries = entries.map(|(name, module)| format!("{name} = {}\n", module.as_str().unwrap_or_default()));
        std::iter::once(format!("[{group}]\n")).chain(entries)
    });
    std::fs::write(metadata.join("entry_points.txt"), lines.collect::<String>()).expect("its entry points");
    folder
}

/// Copies the files of a folder, without Python's caches.
fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).expect("a folder");
    for entry in std::fs::read_dir(from).expect("a folder of the package") {
        let path = entry.expect("an entry").path();
        let name = path.file_name().expect("a name");
        match path.is_dir() {
            true if name == "__pycache__" => {}
            true => copy(&path, &to.join(name)),
            false => drop(std::fs::copy(&path, to.join(name)).expect("a file")),
        }
    }
}
